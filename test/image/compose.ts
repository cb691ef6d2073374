// Starts deploy/compose.yaml with podman-compose: PostgreSQL, web and two workers from one command, a job in each language
// through the published port, and an orderly end. `make test-image` runs this.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createClient } from '#client'
import { findPort } from '#embedded-postgres'
import { accelerated } from '../helper/executor.ts'
import { copy } from '../helper/program.ts'
import { imageName, keepLimits, patientCompilers, podman } from './container.ts'
import type { Ended } from './container.ts'

const project = `runledger-test-${process.pid}`
const postgres = 'localhost/runledger-test-postgres'
const port = await findPort(0)
const root = resolve(import.meta.dirname, '../..')
const override = join(t.testdir(), 'override.json')
const workers = ['worker-1', 'worker-2'] as const
const environment = { ...patientCompilers, CPP_PRECOMPILED_HEADERS: 'off' }
const services = Object.fromEntries(workers.map((service) => [service, { environment }]))
writeFileSync(override, JSON.stringify({ services }))

const compose = (...words: readonly string[]): Promise<Ended> =>
  new Promise((done) => {
    execFile(
      'podman-compose',
      [
        ['-p', project, `--podman-run-args=${keepLimits().join(' ')}`],
        ['-f', `${root}/deploy/compose.yaml`, '-f', override, ...words],
      ].flat(),
      {
        env: {
          ...process.env,
          POSTGRES_PASSWORD: 'test',
          RELEASE_PASSWORD: 'of-release',
          WEB_PASSWORD: 'of-web',
          WORKER_PASSWORD: 'of-worker',
          POSTGRES_IMAGE: postgres,
          RUNLEDGER_IMAGE: imageName,
          PORT: String(port),
        },
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => done({ status: error === null ? 0 : 1, text: stdout + stderr }),
    )
  })

const name = (service: string): string => `${project}_${service}_1`

/** Returns a program that queries the database of its process, and prints the rows or the error's code. */
function query(statement: string): string {
  return `
    import postgres from 'postgres'
    const sql = postgres(process.env.DATABASE_URL, { max: 1 })
    const rows = await sql.unsafe(${JSON.stringify(statement)}).catch(({ code }) => code)
    process.stdout.write(typeof rows === 'string' ? rows : JSON.stringify(rows))
    await sql.end()`
}

async function becomesHealthy(service: string): Promise<boolean> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { text } = await podman('exec', name(service), 'node', 'deploy/health.ts')
    if (text === 'healthy\n') return true
    await delay(1000)
  }
  return false
}

t.teardown(async () => {
  await compose('down', '--volumes')
  await podman('network', 'rm', '--force', `${project}_default`)
  await podman('volume', 'rm', '--force', `${project}_database`)
  await podman('rmi', '--force', postgres)
})

t.test('one command brings up a service that runs every language', async (t) => {
  const deploy = join(root, 'deploy')
  const file = `--file=${deploy}/postgres.Containerfile`
  const built = await podman('build', '--network=host', `--tag=${postgres}`, file, deploy)
  t.equal(built.status, 0, built.text)
  t.equal((await compose('up', '--detach')).status, 0)
  for (const service of [...workers, 'web'])
    t.ok(await becomesHealthy(service), `${service} becomes healthy`)
  const issued = await compose('run', '--rm', 'operator', 'keys', 'issue', '--account', 'test')
  // podman-compose gives the command a terminal, which changes its output.
  const key = /\brl_live_\w+/.exec(issued.text)?.[0] ?? ''
  t.match(key, /^rl_live_/, issued.text)
  const client = createClient({
    url: `http://127.0.0.1:${port}`,
    apiKey: key,
    // The header that a router in front of the service sends.
    fetch: (url, options) => {
      const headers = new Headers(options?.headers)
      headers.set('X-Forwarded-Proto', 'https')
      return fetch(url, { ...options, headers })
    },
  })
  for (const language of accelerated) {
    const record = await client.run({ language, code: copy[language], stdin: 'hello' })
    t.match(record, { verdict: 'AC', stdout: 'hello' }, language)
  }
})

t.test('each process has the rights of its role alone', async (t) => {
  const ask = (service: string, statement: string): Promise<Ended> =>
    podman('exec', name(service), 'node', '--input-type=module', '--eval', query(statement))
  for (const [service, login, of] of [
    ['web', 'web', 'runledger_api'],
    ['worker-1', 'worker', 'runledger_queue'],
    ['worker-2', 'worker', 'runledger_worker'],
  ] as const) {
    const member = `pg_has_role('${of}', 'member')`
    const { text } = await ask(service, `select current_user as name, ${member} as member`)
    t.equal(text, `[{"name":"${login}","member":true}]`, service)
  }
  for (const [service, statement, code] of [
    ['web', 'select count(*) > 0 as some from runledger.event', null],
    ['web', 'select digest from runledger.api_key', '42501'],
    ['web', 'select from runledger.blob_chunk', '42501'],
    ['web', 'select url from runledger.delivery', '42501'],
    ['web', 'update runledger.event set data = null', '42501'],
    ['web', 'select from graphile_worker._private_jobs', '42501'],
    ['worker-1', 'select from runledger.event', '42501'],
    ['worker-1', 'select digest from runledger.api_key', '42501'],
  ] as const)
    t.equal((await ask(service, statement)).text, code ?? '[{"some":true}]', statement)
  const refused = await podman('exec', name('web'), 'deploy/entrypoint.sh', 'keys', 'issue', '--account', 'mine') // prettier-ignore
  t.not(refused.status, 0, 'who takes web over issues no key')
  for (const service of ['web', ...workers]) {
    const { text } = await podman('exec', name(service), 'env')
    t.notMatch(text, /ADMIN_DATABASE_URL|release/, `${service} knows no other password`)
  }
})

t.test('told to stop, all end well', async (t) => {
  for (const service of ['web', ...workers]) {
    await podman('stop', '--time=60', name(service))
    const { text } = await podman('inspect', '--format={{.State.ExitCode}}', name(service))
    t.equal(text.trim(), '0', service)
    if (text.trim() !== '0') t.comment((await podman('logs', '--tail=20', name(service))).text)
  }
})
