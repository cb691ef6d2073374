// Starts a real executor for a bench, with production's limits and a separate cache, and checks the results of its runs.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countSpares, createExecutor } from '#executor'
import type { ExecutionRequest, Executor, ExecutorOptions } from '#executor'
import { defaultLimits, mapLanguages } from '#language'
import type { Language, Limits, PhaseLimits } from '#language'
import { isPlain } from '../options.ts'

/** The first uid of the next executor. Neither two executors of one process nor two processes may share a uid. */
let nextUid = 80_000 + (process.pid % 5000) * 12

/** How many bytes of compiled programs the cache keeps. */
export const cacheBytes = 64 * 1024 * 1024

/** The cache owner of all programs. */
export const cacheScope = 'bench'

export interface BenchExecutorOptions {
  /** The cache to use; a new one when left out. */
  readonly cacheDirectory?: string
  /** Whether all headers are precompiled before the executor is returned, which takes 15 seconds of CPU; false by default. */
  readonly prepares?: boolean
  /** The executor offers the installed ones of these languages; Python, C++ and Java when left out. */
  readonly languages?: readonly Language[]
}

/** An executor with a directory for the bench. */
export interface BenchExecutor extends Executor, AsyncDisposable {
  /** A directory for the bench; removed with the executor. */
  readonly directory: string
  /** Host uids of the executor's slots and spare slots. */
  readonly uids: readonly number[]
}

/**
 * Starts an executor.
 * @param run limits that replace the run limits of every language.
 */
export async function startExecutor(
  slots: number,
  run: Partial<PhaseLimits> = {},
  {
    cacheDirectory,
    prepares = false,
    languages = ['python', 'cpp', 'java'],
  }: BenchExecutorOptions = {},
): Promise<BenchExecutor> {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
  // The users of programs must be able to reach the precompiled headers in the directory.
  chmodSync(directory, 0o711)
  const spares = countSpares(slots)
  const uids = Array.from({ length: slots + spares }, (_, index) => nextUid + index)
  // The uids of the resident compilers follow those of the slots.
  nextUid += 3 * slots
  const change = ({ compile, run: usual }: Limits): Limits => ({
    compile,
    run: { ...usual, ...run },
  })
  const options: ExecutorOptions = {
    slots,
    spares,
    firstUid: uids[0] ?? 0,
    languages,
    proves: false,
    limits: mapLanguages(({ name }) => change(defaultLimits[name])),
    cacheBytes,
    cacheDirectory: cacheDirectory ?? join(directory, 'cache'),
    accelerators: isPlain
      ? []
      : [
          'fork-server',
          'prestart',
          'resident-compiler',
          ...(prepares ? ['preparation' as const] : []),
        ],
  }
  const executor = await createExecutor(options).catch((error: unknown) => {
    rmSync(directory, { recursive: true, force: true })
    throw error
  })
  // Preparation in the background must not be measured.
  await executor.settled()
  return {
    isolation: executor.isolation,
    cores: executor.cores,
    runtimes: executor.runtimes,
    awaited: executor.awaited,
    slots,
    directory,
    uids,
    execute: (request, signal) => executor.execute(request, signal),
    settled: () => executor.settled(),
    close: () => executor.close(),
    async [Symbol.asyncDispose]() {
      await executor.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Runs a program in a box and throws unless it exits with 0 and prints exactly `stdout`. */
export async function expectBoxed(
  executor: Executor,
  language: Language,
  code: string,
  stdout: string,
  {
    stdin = '',
    ...more
  }: { readonly stdin?: string } & Pick<ExecutionRequest, 'network' | 'cores'> = {},
): Promise<void> {
  const { run, compile } = await executor.execute({
    language,
    code: Buffer.from(code),
    stdin: Buffer.from(stdin),
    cacheScope,
    ...more,
  })
  // The start of a replacement compiler in the background must not be measured.
  await executor.settled()
  assert.ok(run !== null, `did not compile: ${Buffer.from(compile?.stderr ?? []).toString()}`)
  assert.equal(run.ending, 'exited')
  assert.equal(run.exitCode, 0)
  assert.equal(Buffer.from(run.stdout).toString(), stdout)
}
