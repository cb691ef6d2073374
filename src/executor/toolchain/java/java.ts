// Java: javac in the box; its class files come out over a pipe one after the other and go back in as one jar.
import { sharePath } from '#contract'
import type { Compiler, FindToolchain } from '../definition.ts'
import { readVersion } from '../version.ts'
import { findMainClass, readClassFiles } from './class-file.ts'
import { findConfiguration, findHome } from './home.ts'
import { writeJar } from './jar.ts'
import { createResidentJavac } from './resident.ts'
import { findTypes, nameSource } from './source.ts'
import type { DeclaredType } from './source.ts'

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

/** Takes the JDK that is named, or else finds the newest complete one. */
export const findJava: FindToolchain = async (host, settings) => {
  const home = await findHome(host, settings.JAVA_HOME)
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
    location: home,
    compiler: describeCompiler(home, banner, compilerJvm),
    commandLine: ['java', '-cp', 'main.jar', 'Main'],
    paths: [home, ...findConfiguration(home)].map(sharePath),
    warmPaths: [`${home}/bin`, `${home}/lib`, `${home}/lib/server`],
    run: ({ content, entry }, memoryBytes) => ({
      argv: [java, ...options(memoryBytes), '-cp', 'main.jar', entry],
      files: [{ path: '/box/main.jar', content, executable: false }],
      unlimitedStack: false,
    }),
    ranOutOfMemory,
    accelerators: settings.JAVA_RESIDENT_COMPILER
      ? [createResidentJavac(home, compilerJvm, compilerOptions)]
      : [],
  }
}

/** @param jvm options of the compiler's virtual machine under a memory limit in bytes. */
function describeCompiler(
  home: string,
  banner: string,
  jvm: (memoryBytes: number) => readonly string[],
): Compiler {
  const script =
    'mkdir out && "$@" 1>&2 || exit $?; exec find out -type f -name "*.class" -exec cat {} +'
  return {
    commandLine: ['javac', ...compilerOptions, 'Main.java'],
    identity: [banner, ...brief, ...compilerOptions].join(' '),
    command: (code, memoryBytes) => {
      const jvmOptions = jvm(memoryBytes).map((option) => `-J${option}`)
      const source = nameSource(readTypes(code))
      const javac = [`${home}/bin/javac`, ...jvmOptions, ...compilerOptions, source]
      return {
        argv: ['/bin/sh', '-c', script, 'sh', ...javac],
        files: [{ path: `/box/${source}`, content: code, executable: false }],
        unlimitedStack: false,
      }
    },
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
