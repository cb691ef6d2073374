// Configuration is read strictly, and all mistakes are reported at once.
import t from 'tap'
import { readDatabaseConfig, readDoctorConfig, readWebConfig, readWorkerConfig } from '#config'
import { defaultLimits, defaultSettings } from '#language'

const DATABASE_URL = 'postgres://user@localhost/name'

t.test('the database address alone is enough', async (t) => {
  const answer = readWebConfig({ DATABASE_URL })
  t.match(answer, { PORT: 3000, TRUST_PROXY: false, SYNC_WAIT_SECONDS: 30, QUEUE_CAPACITY: 1000 })
  const told = readWorkerConfig({ DATABASE_URL })
  t.match(told, { FIRST_UID: 61_000, limits: defaultLimits, WEBHOOK_ALLOWED_PORTS: [443] })
})

t.test('a variable set to nothing counts as not set', async (t) => {
  t.equal(readWebConfig({ DATABASE_URL, PORT: '' }).PORT, 3000)
})

t.test('every mistake is reported, with its name', async (t) => {
  const attempt = (): unknown =>
    readWebConfig({ PORT: 'eighty', TRUST_PROXY: 'yes', QUEUE_CAPACITY: '0', HOST: '::' })
  for (const name of ['DATABASE_URL', 'PORT', 'TRUST_PROXY', 'QUEUE_CAPACITY']) {
    t.throws(attempt, { name: 'ConfigError', message: new RegExp(`^ {2}${name}: `, 'm') })
  }
})

t.test('a port is one that there is', async (t) => {
  t.equal(readWebConfig({ DATABASE_URL, PORT: '65535' }).PORT, 65_535)
  t.throws(
    () => readWebConfig({ DATABASE_URL, WEBHOOK_ALLOWED_PORTS: '443,65536' }),
    /WEBHOOK_ALLOWED_PORTS: must be port numbers from 1 to 65535/,
  )
  t.throws(() => readWebConfig({ DATABASE_URL, PORT: '65536' }), /PORT: must be at most 65535/)
})

t.test('a certificate without its key is refused', async (t) => {
  t.throws(() => readWebConfig({ DATABASE_URL, TLS_CERT: 'cert.pem' }), /set both or neither/)
  const attempt = (): unknown => readWebConfig({ DATABASE_URL, TLS_KEY: 'key.pem', PORT: 'x' })
  t.throws(attempt, /PORT: [^]*set both or neither/, 'also beside other mistakes')
})

t.test('languages are named by any of their names, each once', async (t) => {
  t.strictSame(readWorkerConfig({ DATABASE_URL, LANGUAGES: 'PY python, c++' }).LANGUAGES, [
    'python',
    'cpp',
  ])
  for (const name of ['latin', 'constructor', '__proto__'])
    t.throws(
      () => readWorkerConfig({ DATABASE_URL, LANGUAGES: name }),
      /has unknown languages/,
      name,
    )
  t.throws(
    () => readWorkerConfig({ DATABASE_URL, LANGUAGES: 'python,pyton cpp latin' }),
    /has unknown languages: pyton \(did you mean python\?\), latin$/,
  )
})

t.test('something that is no PostgreSQL address is refused', async (t) => {
  t.throws(
    () => readDatabaseConfig({ DATABASE_URL: 'mysql://host/name' }),
    /DATABASE_URL: must start with postgres/,
  )
})

t.test('limits are set a language and a phase at a time', async (t) => {
  const { limits } = readWorkerConfig({
    DATABASE_URL,
    JAVA_RUN_MEMORY_BYTES: '1073741824',
    CPP_COMPILE_CPU_SECONDS: '2.5',
  })
  const { java, cpp } = defaultLimits
  t.strictSame(limits, {
    ...defaultLimits,
    java: { ...java, run: { ...java.run, memoryBytes: 1_073_741_824 } },
    cpp: { ...cpp, compile: { ...cpp.compile, cpuSeconds: 2.5 } },
  })
})

t.test('a language’s own variables are read with the worker’s, and refused alike', async (t) => {
  const given = { JAVA_HOME: '/srv/jdk', CPP_PRECOMPILED_HEADERS: 'off' }
  t.strictSame(readWorkerConfig({ DATABASE_URL, ...given }).settings, {
    JAVA_HOME: '/srv/jdk',
    JAVA_RESIDENT_COMPILER: true,
    JAVA_STARTS_AHEAD: true,
    NODE_STARTS_AHEAD: true,
    CPP_PRECOMPILED_HEADERS: false,
  })
  t.throws(
    () => readWorkerConfig({ DATABASE_URL, JAVA_RESIDENT_COMPILER: 'yes', SLOTS: '0' }),
    /SLOTS: must be at least 1[^]*JAVA_RESIDENT_COMPILER: must be on or off/,
  )
})

t.test('the doctor needs nothing, reads as the worker does, passes over mistakes', async (t) => {
  const settings = defaultSettings
  const usual = { FIRST_UID: 61_000, CACHE_DIRECTORY: '/var/cache/runledger', settings }
  t.match(readDoctorConfig({}), usual)
  const mistakes = { FIRST_UID: '0', SLOTS: 'many', CACHE_DIRECTORY: '', JAVA_HOME: '' }
  const more = { CPP_PRECOMPILED_HEADERS: 'maybe', LANGUAGES: 'klingon', DATABASE_URL: 'none' }
  const read = readDoctorConfig({ ...mistakes, ...more })
  t.match(read, usual)
  t.equal(read.LANGUAGES, undefined)
  t.equal(read.DATABASE_URL, undefined)
  const other = { FIRST_UID: '70000', CACHE_DIRECTORY: '/srv/cache' }
  const answer = readDoctorConfig({ ...other, JAVA_HOME: '/srv/jdk' })
  t.match(answer, { ...other, FIRST_UID: 70_000, settings: { ...settings, JAVA_HOME: '/srv/jdk' } })
})

t.test('a limit that does not exist is a mistake, not ignored', async (t) => {
  t.throws(
    () => readWorkerConfig({ DATABASE_URL, PYTHON_RUN_CPU: '5' }),
    /PYTHON_RUN_CPU: no such limit/,
  )
  t.throws(
    () => readWorkerConfig({ DATABASE_URL, PYTHON_COMPILE_CPU_SECONDS: '5' }),
    /no such limit/,
  )
  t.throws(
    () => readWorkerConfig({ DATABASE_URL, CPP_RUN_PROCESSES: '1.5' }),
    /must be a whole number/,
  )
})
