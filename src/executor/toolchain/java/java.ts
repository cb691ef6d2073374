// Java: javac in the box; its class files come out over a pipe one after the other and go back in as one jar.
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { sharePath } from '#contract'
import { findMainClass, readClassFiles } from './class-file.ts'
import { writeJar } from './jar.ts'
import { createResidentJavac } from './resident.ts'
import { findTypes, nameSource } from './source.ts'
import type { DeclaredType } from './source.ts'
import type { Compiler, Toolchain } from '../definition.ts'
import { readVersion } from '../version.ts'

// The JVM's own words belong to stderr: on stdout they would make a right answer wrong. No file in /tmp for other
// tools to watch the JVM by, and no socket for them to attach to.
const quiet = [
  '-XX:+DisplayVMOutputToStderr',
  '-Xlog:disable',
  '-Xlog:all=warning:stderr',
  '-XX:-UsePerfData',
  '-XX:+DisableAttachMechanism',
]

const exitWhenFull = '-XX:+ExitOnOutOfMemoryError'

// For compiling, the first compiler tier and the serial collector: two thirds of the time (measured, JDK 17).
const brief = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/**
 * The JDK's archive of loaded classes stands at the address it was made for, which spares the JVM rewriting every pointer
 * in it: an eighth of a hello's CPU time (measured, JDK 25). What is at a known address is known to be of the JDK.
 */
const fixedArchive = ['-XX:+UnlockDiagnosticVMOptions', '-XX:ArchiveRelocationMode=0']

const compilerOptions = ['-proc:none', '-encoding', 'UTF-8', '-d', 'out']

const readTypes = (code: Uint8Array): DeclaredType[] =>
  findTypes(Buffer.from(code).toString('utf8'))

/** The heap's share of a memory limit; the rest is for classes, compiled code, stacks and the JVM itself. */
function heapOption(memoryBytes: number): string {
  return `-Xmx${Math.floor((memoryBytes * 3) / 4 / 1024)}k`
}

/** Takes the JDK that is named, or else finds the newest complete one. @throws when there is none. */
export async function findJava(wanted: string | undefined): Promise<Toolchain> {
  const home = await findHome(wanted)
  const java = `${home}/bin/java`
  // A JVM does not start with an option that it does not know, and this one may go.
  const { banner, further } = await readVersion(java, ...quiet, ...fixedArchive, '-version').then(
    (text) => ({ banner: text, further: fixedArchive }),
    async () => ({ banner: await readVersion(java, ...quiet, '-version'), further: [] }),
  )
  const version = /version "([^"]+)"/.exec(banner)?.[1] ?? 'unknown'
  const compilerJvm = (memoryBytes: number): string[] => [
    ...quiet,
    ...further,
    ...brief,
    heapOption(memoryBytes),
    exitWhenFull,
  ]
  const identity = [banner, ...brief, ...compilerOptions].join(' ')
  const compiler: Compiler = {
    commandLine: ['javac', ...compilerOptions, 'Main.java'],
    identity,
    command: (code, memoryBytes) => {
      const jvm = compilerJvm(memoryBytes).map((option) => `-J${option}`)
      const source = nameSource(readTypes(code))
      const script =
        'mkdir out && "$@" 1>&2 || exit $?; exec find out -type f -name "*.class" -exec cat {} +'
      return {
        argv: [
          '/bin/sh',
          '-c',
          script,
          'sh',
          `${home}/bin/javac`,
          ...jvm,
          ...compilerOptions,
          source,
        ],
        files: [{ path: `/box/${source}`, content: code, executable: false }],
        unlimitedStack: false,
      }
    },
    resident: createResidentJavac(home, compilerJvm, compilerOptions),
    readArtefact: (stdout, code) => {
      // A directory has no order of its own: one that does not depend on how the files came about.
      const classes = readClassFiles(stdout).toSorted((left, right) =>
        left.name < right.name ? -1 : 1,
      )
      const order = readTypes(code).map(({ name }) => name)
      // Without any main, the launcher is told some class of the program and gives its own error.
      const entry = findMainClass(classes, order) ?? classes[0]?.name.replaceAll('/', '.') ?? 'Main'
      return { content: writeJar(classes), entry }
    },
  }
  const options = (memoryBytes: number): string[] => [
    heapOption(memoryBytes),
    '-Xss64m',
    // All threads' CPU time counts against the limit, and this collector takes the least of it, and the fewest threads.
    '-XX:+UseSerialGC',
    ...quiet,
    ...further,
    exitWhenFull,
  ]
  return {
    version: `OpenJDK ${version}`,
    compiler,
    commandLine: ['java', '-cp', 'main.jar', 'Main'],
    paths: [home, ...findConfiguration(home)].map(sharePath),
    warmPaths: [`${home}/bin`, `${home}/lib`, `${home}/lib/server`],
    run: ({ content, entry }, memoryBytes) => ({
      argv: [`${home}/bin/java`, ...options(memoryBytes), '-cp', 'main.jar', entry],
      files: [{ path: '/box/main.jar', content, executable: false }],
      unlimitedStack: false,
    }),
    ranOutOfMemory,
  }
}

/**
 * A heap that is full ends the JVM at once with status 3 and the JVM's own line: the heap's limit, like the kernel's,
 * cannot be caught and lived with. A few errors are thrown by library code instead (direct buffers) and end the
 * program as an uncaught exception does; a thread that cannot be made is the limit on processes, not on memory.
 * A program can imitate either and so trade one failure of its own for another; it cannot hide one.
 */
function ranOutOfMemory(exitCode: number, stderr: Buffer): boolean {
  const text = stderr.toString('latin1')
  if (exitCode === 3) return /^Terminating due to java\.lang\.OutOfMemoryError/m.test(text)
  return (
    exitCode === 1 &&
    /^Exception in thread "main" java\.lang\.OutOfMemoryError(?!: unable to create)/m.test(text)
  )
}

/** The JDK that is asked for, else the newest under /usr/lib/jvm that is whole and answers, else that of /usr/bin/javac. */
async function findHome(wanted: string | undefined): Promise<string> {
  for (const home of wanted === undefined ? listHomes() : [wanted]) {
    const parts = ['bin/java', 'bin/javac', 'lib/modules', 'lib/server/libjvm.so', 'conf/security']
    if (!parts.every((part) => existsSync(`${home}/${part}`))) continue
    try {
      await readVersion(`${home}/bin/javac`, '-version')
      return realpathSync(home)
    } catch {
      // Whole but unusable, for instance built for another C library; the next one may do.
    }
  }
  throw new Error(
    wanted === undefined
      ? 'no complete JDK under /usr/lib/jvm or behind /usr/bin/javac'
      : `no complete JDK in ${wanted}`,
  )
}

/** Newest first. */
function listHomes(): string[] {
  const root = '/usr/lib/jvm'
  const names = existsSync(root) ? readdirSync(root) : []
  const homes = names
    .map((name) => `${root}/${name}`)
    .filter((home) => existsSync(`${home}/release`))
  if (existsSync('/usr/bin/javac')) homes.push(dirname(dirname(realpathSync('/usr/bin/javac'))))
  return [...new Set(homes.map((home) => realpathSync(home)))].toSorted(
    (left, right) => readRelease(right) - readRelease(left),
  )
}

/** Major version of a JDK by its `release` file; 0 when it does not say. */
function readRelease(home: string): number {
  try {
    return Number(/^JAVA_VERSION="(\d+)/m.exec(readFileSync(`${home}/release`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Debian keeps a JDK's configuration in /etc and links to it; the box needs what the links lead to. */
function findConfiguration(home: string): string[] {
  const found = new Set<string>()
  for (const folder of ['lib', 'lib/security', 'conf', 'conf/security', 'conf/management']) {
    const directory = `${home}/${folder}`
    if (!existsSync(directory)) continue
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (!entry.isSymbolicLink() || !existsSync(`${directory}/${entry.name}`)) continue
      const target = realpathSync(`${directory}/${entry.name}`)
      if (!target.startsWith('/usr/') && !target.startsWith(`${home}/`)) found.add(target)
    }
  }
  return [...found]
}
