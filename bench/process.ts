// Finds the benches of a checkout, and runs one of them in a separate process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readReport } from './report.ts'
import type { Report } from './report.ts'

/** A bench that takes longer counts as hung, unless the caller gives another limit. */
const longestSeconds = 600

/** Longer than the time that a stopping worker gives its programs. */
const graceMilliseconds = 40_000

/**
 * Returns the benches' paths below bench/, without the file name's ending, such as `executor/box`.
 * @param words selects the benches whose path has one of them; no words select all benches.
 */
export function findBenches(checkout: string, words: readonly string[]): string[] {
  return readdirSync(join(checkout, 'bench'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.bench.ts'))
    .map((path) => path.replace(/\.bench\.ts$/, ''))
    .filter((bench) => words.length === 0 || words.some((word) => bench.includes(word)))
    .toSorted()
}

/**
 * Runs one bench and returns its report; null when the bench exited without one.
 * @param options such as `--quick`.
 * @param seconds after which the bench is stopped.
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
    // The bench ends with this process, even if this process is killed.
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
      // A separate process group shows when all processes that the bench started have ended.
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

/** Waits until the bench's processes have ended and kills them if they take too long: they would disturb the next bench. */
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
