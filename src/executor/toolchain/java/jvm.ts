// The command-line options and results of JVMs, for all languages that run on one.
import { readVersion } from '../version.ts'

// The JVM's messages go to stderr, because on stdout they would spoil a correct answer. The JVM also makes no file in /tmp and
// no socket for monitoring tools.
const quiet = [
  '-XX:+DisplayVMOutputToStderr',
  '-Xlog:disable',
  '-Xlog:all=warning:stderr',
  '-XX:-UsePerfData',
  '-XX:+DisableAttachMechanism',
]

const exitWhenFull = '-XX:+ExitOnOutOfMemoryError'

/** Options for compilers, which then take two thirds of the time (measured, JDK 17). */
export const clientCompiler = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** Limits the heap to three quarters of the memory; the rest is for classes, compiled code, stacks and the JVM itself. */
function heapOption(memoryBytes: number): string {
  return `-Xmx${Math.floor((memoryBytes * 3) / 4 / 1024)}k`
}

export interface Jvm {
  /** The JDK's directory. */
  readonly home: string
  readonly java: string
  /** The output of `java -version`. */
  readonly banner: string
}

/** Starts a JDK's JVM to read its version. @throws when the JVM does not start. */
export async function examineJvm(home: string): Promise<Jvm> {
  const java = `${home}/bin/java`
  return { home, java, banner: await readVersion(java, [...quiet, '-version']) }
}

/** Returns the options for a compiler under a memory limit in bytes. */
export function compilerOptions(memoryBytes: number): string[] {
  return [...quiet, ...clientCompiler, heapOption(memoryBytes), exitWhenFull]
}

/** Returns the options for a program under a memory limit in bytes. */
export function programOptions(memoryBytes: number): string[] {
  // The CPU time of all threads counts, and the serial collector takes the least time and the fewest threads.
  return [heapOption(memoryBytes), '-Xss64m', '-XX:+UseSerialGC', ...quiet, exitWhenFull]
}

/**
 * Returns whether a JVM ran out of memory. A full heap ends the JVM with status 3 and a line of its own; like the kernel's
 * limit it cannot be caught. Library code throws some OutOfMemoryErrors (direct buffers), which end the program like any
 * exception. A thread that cannot be created means the process limit, not memory. A program can imitate either result, which
 * replaces one failure by another but hides none.
 */
export function ranOutOfMemory(exitCode: number, stderr: Buffer): boolean {
  const text = stderr.toString('latin1')
  if (exitCode === 3) return /^Terminating due to java\.lang\.OutOfMemoryError/m.test(text)
  return (
    exitCode === 1 &&
    /^Exception in thread "main" java\.lang\.OutOfMemoryError(?!: unable to create)/m.test(text)
  )
}
