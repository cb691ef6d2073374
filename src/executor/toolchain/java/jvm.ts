// How a JVM is started, whatever language its program was written in.
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

/** For compiling: the first compiler tier and the serial collector: two thirds of the time (measured, JDK 17). */
export const brief = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/**
 * The JDK's archive of loaded classes stands at the address it was made for, which spares the JVM rewriting every pointer
 * in it: an eighth of a hello's CPU time (measured, JDK 25). What is at a known address is known to be of the JDK.
 */
const fixedArchive = ['-XX:+UnlockDiagnosticVMOptions', '-XX:ArchiveRelocationMode=0']

/** The heap's share of a memory limit; the rest is for classes, compiled code, stacks and the JVM itself. */
function heapOption(memoryBytes: number): string {
  return `-Xmx${Math.floor((memoryBytes * 3) / 4 / 1024)}k`
}

/** A JVM of the host. */
export interface Jvm {
  readonly java: string
  /** What it says of itself. */
  readonly banner: string
  /** Options of a program under a memory limit in bytes. */
  readonly programOptions: (memoryBytes: number) => string[]
  /** Options of a compiler under one. */
  readonly compilerOptions: (memoryBytes: number) => string[]
}

/** @throws when it does not start. */
export async function examineJvm(home: string): Promise<Jvm> {
  const java = `${home}/bin/java`
  // A JVM does not start with an option that it does not know, and this one may go.
  const { banner, further } = await readVersion(java, ...quiet, ...fixedArchive, '-version').then(
    (text) => ({ banner: text, further: fixedArchive }),
    async () => ({ banner: await readVersion(java, ...quiet, '-version'), further: [] }),
  )
  return {
    java,
    banner,
    compilerOptions: (memoryBytes) => [
      ...quiet,
      ...further,
      ...brief,
      heapOption(memoryBytes),
      exitWhenFull,
    ],
    programOptions: (memoryBytes) => [
      heapOption(memoryBytes),
      '-Xss64m',
      // All threads' CPU time counts against the limit, and this collector takes the least of it, and the fewest threads.
      '-XX:+UseSerialGC',
      ...quiet,
      ...further,
      exitWhenFull,
    ],
  }
}

/**
 * A heap that is full ends the JVM at once with status 3 and the JVM's own line: the heap's limit, like the kernel's,
 * cannot be caught and lived with. A few errors are thrown by library code instead (direct buffers) and end the
 * program as an uncaught exception does; a thread that cannot be made is the limit on processes, not on memory.
 * A program can imitate either and so trade one failure of its own for another; it cannot hide one.
 */
export function ranOutOfMemory(exitCode: number, stderr: Buffer): boolean {
  const text = stderr.toString('latin1')
  if (exitCode === 3) return /^Terminating due to java\.lang\.OutOfMemoryError/m.test(text)
  return (
    exitCode === 1 &&
    /^Exception in thread "main" java\.lang\.OutOfMemoryError(?!: unable to create)/m.test(text)
  )
}
