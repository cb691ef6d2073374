// Compiles the same sources with a resident javac and in a box each, and compares all results. Also starts executors whose
// resident works: a resident starts in the background and notifies nobody.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { deserialize } from 'node:v8'
import type { Test } from 'tap'
import type { Executor, ExecutorOptions, Outcome } from '#executor'
import type { Compiled } from '../../../../src/executor/artefact-cache.ts'
import { makeDirectory } from '../../../helper/directory.ts'
import { execute, findBoxProcesses, startExecutor } from '../../../helper/executor.ts'
import type { TextOutcome } from '../../../helper/executor.ts'
import type { Examples } from './example.ts'

/** A resident JVM has grown beyond this size. A JVM that compiles a few lines and ends has not. */
const residentBytes = 90 * 1024 * 1024

/** Returns true when a resident compiled the source. */
export const wasResident = ({
  compile,
}: {
  compile: { usage: { memoryPeakBytes: number } } | null
}): boolean => (compile?.usage.memoryPeakBytes ?? 0) > residentBytes

let sources = 0
/** Makes a source that no cache has. */
export const hello = (): string =>
  `class Main { public static void main(String[] a) { System.out.print(${(sources += 1)}); } }`

/** Starts an executor and waits until its resident is up. */
export async function startWithResident(
  t: Test,
  options: Partial<ExecutorOptions> = {},
): Promise<Executor> {
  const executor = await startExecutor(t, {
    languages: ['java'],
    accelerators: ['resident-compiler'],
    // A busy machine may start it too late; the pool then starts another one.
    onFallback: (reason) => /not ready after/.test(reason) || t.fail(reason),
    ...options,
  })
  await executor.settled()
  return executor
}

/** Executes for a new account, so that earlier sources in a resident do not count against it. */
export const executeAlone = (executor: Executor, code: string): Promise<TextOutcome> =>
  execute(executor, 'java', code, '', { cacheScope: `account ${(accounts += 1)}` })

let accounts = 0

/**
 * Waits for the next resident of an executor of `startExecutor`. A source that comes before it takes a second of CPU in a
 * box, so none is sent while no resident has started; processes of an unprivileged worker cannot be told from others.
 */
export async function waitForResident(executor: Executor): Promise<void> {
  const isStarted = (): boolean => process.getuid?.() !== 0 || findBoxProcesses().length > 0
  do {
    do await delay(200)
    while (!isStarted())
  } while (!wasResident(await executeAlone(executor, hello())))
}

const digestBytes = 32

/** Reads all artefacts in an executor's cache, without the figures of their compilations. */
function readArtefacts(cacheDirectory: string): Map<string, unknown> {
  const directory = `${cacheDirectory}/artefact`
  return new Map(
    readdirSync(directory).map((name) => {
      const file = readFileSync(`${directory}/${name}`)
      const { artefact } = deserialize(file.subarray(digestBytes)) as Compiled
      return [name, artefact]
    }),
  )
}

const stdin = Buffer.alloc(0)

function pick({ compile, run }: Outcome): unknown {
  return {
    compile: compile && {
      ending: compile.ending,
      exitCode: compile.exitCode,
      stderr: Buffer.from(compile.stderr).toString('latin1'),
      isTruncated: compile.stderrTruncated,
    },
    run: run && {
      exitCode: run.exitCode,
      stdout: Buffer.from(run.stdout).toString('latin1'),
      stderr: Buffer.from(run.stderr).toString('latin1'),
    },
  }
}

/** Checks that status, messages, class files and run are the same, and that the resident has answered for all but a few. */
export async function compareAll(t: Test, examples: Examples): Promise<void> {
  const [residentDirectory, boxDirectory] = [makeDirectory(t), makeDirectory(t)]
  const resident = await startWithResident(t, { cacheDirectory: residentDirectory })
  const box = await startExecutor(t, { languages: ['java'], cacheDirectory: boxDirectory })
  let residents = 0
  for (const [name, code] of examples) {
    // Each source has its own account. An account whose source takes the resident long has its next sources compiled in boxes.
    const request = { language: 'java', code, stdin, cacheScope: name } as const
    const [first, second] = await Promise.all([resident.execute(request), box.execute(request)])
    t.same(pick(first), pick(second), name)
    if (wasResident(first)) residents += 1
    else t.comment(`not by the resident: ${name}`)
  }
  t.ok(residents >= examples.length - 5, `${residents} of ${examples.length} by the resident`)
  const kept = readArtefacts(residentDirectory)
  for (const [key, artefact] of readArtefacts(boxDirectory)) {
    t.same(kept.get(key), artefact, `the class files of ${key}`)
  }
}
