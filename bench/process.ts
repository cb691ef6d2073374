// Which benches a checkout has, and one of them run in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readReport } from './report.ts'
import type { Report } from './report.ts'

/** A bench that takes longer hangs, unless told. */
const longestSeconds = 600

/** Longer than a worker gives its programs to end. */
const graceMilliseconds = 40_000

/**
 * Paths below bench/ without the ending, such as `executor/box`.
 * @param words those whose path has one of them; all without any.
 */
export function findBenches(checkout: string, words: readonly string[]): string[] {
  return readdirSync(join(checkout, 'bench'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.bench.ts'))
    .map((path) => path.replace(/\.bench\.ts$/, ''))
    .filter((bench) => words.length === 0 || words.some((word) => bench.includes(word)))
    .toSorted()
}

/**
 * Runs one and returns its report; null when it ended before it had one.
 * @param options such as `--quick`.
 * @param seconds after which it is ended.
 * @throws the signal's reason when it was aborted.
 */
export async function runBench(
  checkout: string,
  bench: string,
  options: readonly string[],
  { signal, seconds = longestSeconds }: { signal?: AbortSignal; seconds?: number } = {},
): Promise<Report | null> {
  signal?.throwIfAborted()
  const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
  const result = join(directory, 'result.json')
  const child = spawn(
    'setpriv',
    // It ends with us, however we end.
    [
      '--pdeathsig',
      'SIGTERM',
      '--',
      process.execPath,
      join(checkout, 'bench', `${bench}.bench.ts`),
      `--result=${result}`,
      ...options,
    ],
    {
      cwd: checkout,
      stdio: ['ignore', 'inherit', 'inherit'],
      // A group, to see when all that it started has ended.
      detached: true,
      timeout: Math.ceil(seconds * 1000),
    },
  )
  const stop = (): boolean => child.kill('SIGTERM')
  signal?.addEventListener('abort', stop)
  try {
    await once(child, 'exit')
    await endGroup(child.pid ?? 0)
    signal?.throwIfAborted()
    return readReport(result)
  } finally {
    signal?.removeEventListener('abort', stop)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What a bench leaves would be measured with the next one: services end by themselves, or are ended. */
async function endGroup(leader: number): Promise<void> {
  const tellAll = (word: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(-leader, word)
    } catch {
      return false
    }
  }
  const deadline = performance.now() + graceMilliseconds
  while (tellAll(0)) {
    if (performance.now() > deadline) tellAll('SIGKILL')
    await sleep(100)
  }
}
