// Which benches a checkout has, and one of them run in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReport } from './report.ts'
import type { Report } from './report.ts'

/** A bench that takes longer hangs, unless told. */
const longestSeconds = 600

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
      timeout: Math.ceil(seconds * 1000),
    },
  )
  const stop = (): boolean => child.kill('SIGTERM')
  signal?.addEventListener('abort', stop)
  try {
    await once(child, 'exit')
    signal?.throwIfAborted()
    return readReport(result)
  } finally {
    signal?.removeEventListener('abort', stop)
    rmSync(directory, { recursive: true, force: true })
  }
}
