// Reads and writes cgroup files; errors name the step. All calls are synchronous, because kernfs answers faster than the
// thread pool.
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeSync,
} from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { SandboxError, describe, readCode } from '#contract'

/**
 * @param remedy what an operator can do about a failure.
 * @throws {SandboxError} step `cgroup.create`.
 */
export function makeGroup(directory: string, remedy?: string): void {
  try {
    mkdirSync(directory)
  } catch (cause) {
    const words = [`cannot make ${directory}: ${describe(cause)}`, remedy].filter(Boolean)
    throw new SandboxError('cgroup.create', words.join('; '), cause)
  }
}

/** Writes a value with one write(2), as the kernel requires. Never creates a file. */
export function writeValue(directory: string, file: string, value: string): void {
  // cgroup.kill cannot be opened for reading.
  const descriptor = openSync(`${directory}/${file}`, constants.O_WRONLY)
  try {
    writeSync(descriptor, value)
  } finally {
    closeSync(descriptor)
  }
}

/** Opens all files, or none. */
export function openFiles(files: readonly (readonly [path: string, flags: string])[]): number[] {
  const descriptors: number[] = []
  try {
    for (const [path, flags] of files) descriptors.push(openSync(path, flags))
  } catch (error) {
    closeFiles(descriptors)
    throw error
  }
  return descriptors
}

/** Closes the descriptors and empties the list. */
export function closeFiles(descriptors: number[]): void {
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
}

/**
 * Writes a limit and reads it back. The kernel may round bytes down to a page.
 * @throws {SandboxError} step `cgroup.limit` when the kernel holds another value.
 */
export function writeLimit(directory: string, file: string, value: number): void {
  const path = `${directory}/${file}`
  let found: string
  try {
    writeValue(directory, file, String(value))
    found = readValue(directory, file)
  } catch (cause) {
    throw new SandboxError('cgroup.limit', `cannot set ${path}: ${describe(cause)}`, cause)
  }
  const largestPageBytes = 65_536
  const held = Number(found)
  const rounded = value >= largestPageBytes && held <= value && value - held < largestPageBytes
  if (held !== value && !rounded)
    throw new SandboxError('cgroup.limit', `${path} holds ${found}, not ${value}`)
}

/**
 * Checks that swap is off, because swap that no group counts is memory beyond every limit.
 * @throws {SandboxError} step `cgroup.limit`.
 */
export function requireSwapOff(): void {
  if (!readValue('/proc', 'swaps').includes('\n')) return
  throw new SandboxError(
    'cgroup.limit',
    'swap is on and not accounted; run swapoff or boot with swapaccount=1',
  )
}

export function readValue(directory: string, file: string): string {
  return readFileSync(`${directory}/${file}`, 'utf8').trim()
}

/** Returns the number after `key` in a file of `key value` lines; 0 without such a line. */
export function readKey(directory: string, file: string, key: string): number {
  for (const line of readValue(directory, file).split('\n')) {
    const [name, value] = line.split(' ')
    if (name === key) return Number(value)
  }
  return 0
}

/** Returns the processes of a cgroup, without those of its children; none when it is gone. */
export function readPids(directory: string): number[] {
  try {
    return readValue(directory, 'cgroup.procs').split('\n').filter(Boolean).map(Number)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Kills the processes that are in the cgroup now. More may be forked meanwhile. */
export function killEach(directory: string): void {
  for (const pid of readPids(directory)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (readCode(error) !== 'ESRCH') throw error
    }
  }
}

/** Returns none when the cgroup is gone. */
export function readChildren(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/**
 * Removes an empty cgroup. A killed process can still hold it for milliseconds (EBUSY).
 * @throws {SandboxError} step `cgroup.remove` when it is still busy after five seconds.
 */
async function removeGroup(directory: string): Promise<void> {
  const patienceMilliseconds = 5000
  let waited = 0
  // Pauses stay short while an exit is under way (an RCU grace period, 10 to 30 ms), because doubled ones would wait as long
  // again. Later they are long.
  for (let pause = 1; ; pause = Math.min(pause * 2, waited < 500 ? 8 : 100)) {
    try {
      rmdirSync(directory)
      return
    } catch (cause) {
      if (isMissing(cause)) return
      if (waited >= patienceMilliseconds) {
        throw new SandboxError(
          'cgroup.remove',
          `cannot remove ${directory}: ${describe(cause)}`,
          cause,
        )
      }
    }
    await delay(pause)
    waited += pause
  }
}

/** Removes a cgroup and all cgroups below it, the deepest first. */
export async function removeTree(directory: string): Promise<void> {
  for (const child of readChildren(directory)) await removeTree(`${directory}/${child}`)
  await removeGroup(directory)
}

/** True when a file does not exist, or its cgroup was removed while the file was open. */
export function isMissing(error: unknown): boolean {
  const code = readCode(error instanceof SandboxError ? error.cause : error)
  return code === 'ENOENT' || code === 'ENODEV'
}
