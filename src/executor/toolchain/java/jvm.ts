// Starts JVMs, whatever language the program was written in.
import { readVersion } from '../version.ts'

// The JVM's messages go to stderr: on stdout they would spoil a right answer. It makes no file in /tmp and no socket
// for tools to watch it.
const quiet = [
  '-XX:+DisplayVMOutputToStderr',
  '-Xlog:disable',
  '-Xlog:all=warning:stderr',
  '-XX:-UsePerfData',
  '-XX:+DisableAttachMechanism',
]

const exitWhenFull = '-XX:+ExitOnOutOfMemoryError'

/** For compilers: two thirds of the time (measured, JDK 17). */
export const clientCompiler = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** Three quarters; the rest is for classes, compiled code, stacks and the JVM itself. */
function heapOption(memoryBytes: number): string {
  return `-Xmx${Math.floor((memoryBytes * 3) / 4 / 1024)}k`
}

export interface Jvm {
  /** The JDK's directory. */
  readonly home: string
  readonly java: string
  /** What it prints as `-version`. */
  readonly banner: string
  /** For a program under a memory limit in bytes. */
  readonly programOptions: (memoryBytes: number) => string[]
  /** For a compiler. */
  readonly compilerOptions: (memoryBytes: number) => string[]
}

/** @throws when it does not start. */
export async function examineJvm(home: string): Promise<Jvm> {
  const java = `${home}/bin/java`
  const banner = await readVersion(java, ...quiet, '-version')
  return {
    home,
    java,
    banner,
    compilerOptions: (memoryBytes) => [
      ...quiet,
      ...clientCompiler,
      heapOption(memoryBytes),
      exitWhenFull,
    ],
    programOptions: (memoryBytes) => [
      heapOption(memoryBytes),
      '-Xss64m',
      // All threads' CPU time counts: this collector takes least, and fewest threads.
      '-XX:+UseSerialGC',
      ...quiet,
      exitWhenFull,
    ],
  }
}

/**
 * A full heap ends the JVM with status 3 and its own line: like the kernel's limit it cannot be caught. Library code
 * throws some such errors (direct buffers), which end the program like any exception. A thread that cannot be made is
 * the limit on processes. A program may imitate either to trade one failure for another, but not hide one.
 */
export function ranOutOfMemory(exitCode: number, stderr: Buffer): boolean {
  const text = stderr.toString('latin1')
  if (exitCode === 3) return /^Terminating due to java\.lang\.OutOfMemoryError/m.test(text)
  return (
    exitCode === 1 &&
    /^Exception in thread "main" java\.lang\.OutOfMemoryError(?!: unable to create)/m.test(text)
  )
}
