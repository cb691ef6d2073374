// A real executor for a bench, with the limits of production and a cache of its own, and the check of what came out.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countSpares, createExecutor } from '#executor'
import type { ExecutionRequest, Executor, ExecutorOptions } from '#executor'
import { defaultLimits, mapLanguages } from '#language'
import type { Language, Limits, PhaseLimits } from '#language'
import { isPlain } from '../options.ts'

/** Two executors of one process must not share a uid, nor two processes. */
let nextUid = 80_000 + (process.pid % 5000) * 12

/** Bytes of compiled programs that are kept. */
export const cacheBytes = 64 * 1024 * 1024

/** Whose programs all are. */
export const cacheScope = 'bench'

export interface BenchExecutorOptions {
  /** The cache to use; one of its own unless told. */
  readonly cacheDirectory?: string
  /** All headers are made before the executor is handed out, which takes 15 seconds of CPU; false unless said. */
  readonly prepares?: boolean
  /** Of these it has what is installed; Python, C++ and Java unless told. */
  readonly languages?: readonly Language[]
}

/** An executor and the directory that goes with it. */
export interface BenchExecutor extends Executor, AsyncDisposable {
  /** A directory of the bench's own; removed at the end. */
  readonly directory: string
  /** Host uids of its slots. */
  readonly uids: readonly number[]
}

/**
 * Starts one.
 * @param run changes the run limits of every language.
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
  // Programs' users must get to the precompiled headers in it.
  chmodSync(directory, 0o711)
  const spares = countSpares(slots)
  const uids = Array.from({ length: slots + spares }, (_, index) => nextUid + index)
  // The resident compilers have theirs after the slots'.
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
  // What is prepared in the background is not to be measured.
  await executor.settled()
  return {
    isolation: executor.isolation,
    cores: executor.cores,
    runtimes: executor.runtimes,
    awaited: executor.awaited,
    found: executor.found,
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

/** Runs a program in a box and throws unless it exits with 0 and prints just this. */
export async function expectBoxed(
  executor: Executor,
  language: Language,
  code: string,
  stdout: string,
  stdin = '',
  network: ExecutionRequest['network'] = 'none',
): Promise<void> {
  const { run, compile } = await executor.execute({
    language,
    code: Buffer.from(code),
    stdin: Buffer.from(stdin),
    cacheScope,
    network,
  })
  // A compiler that takes another's place in the background is not to be measured.
  await executor.settled()
  assert.ok(run !== null, `did not compile: ${Buffer.from(compile?.stderr ?? []).toString()}`)
  assert.equal(run.ending, 'exited')
  assert.equal(run.exitCode, 0)
  assert.equal(Buffer.from(run.stdout).toString(), stdout)
}
