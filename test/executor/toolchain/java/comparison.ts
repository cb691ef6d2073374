// Compiles the same sources with a resident javac and in a box each, and compares all that comes of it. Also how a test
// gets an executor whose resident is at work: it is started in the background and tells nobody.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Executor, ExecutorOptions, Outcome } from '#executor'
import { execute, startExecutor } from '../../../helper/executor.ts'
import type { TextOutcome } from '../../../helper/executor.ts'
import type { Examples } from './example.ts'

/** A JVM that stays has grown; one that compiles a few lines and ends has not. */
const residentBytes = 90 * 1024 * 1024

/** True when the source was compiled by a resident. */
export const wasResident = ({
  compile,
}: {
  compile: { usage: { memoryPeakBytes: number } } | null
}): boolean => (compile?.usage.memoryPeakBytes ?? 0) > residentBytes

let sources = 0
/** A source that no cache has. */
export const hello = (): string =>
  `class Main { public static void main(String[] a) { System.out.print(${(sources += 1)}); } }`

/** An executor whose resident is up. */
export async function startWithResident(
  t: Test,
  options: Partial<ExecutorOptions> = {},
): Promise<Executor> {
  const executor = await startExecutor(t, {
    accelerators: ['fork-server', 'resident-compiler'],
    onFallback: (reason) => t.fail(reason),
    ...options,
  })
  await executor.settled()
  return executor
}

/** Executes for an account of its own: what others did to a resident is not held against it. */
export const executeAlone = (executor: Executor, code: string): Promise<TextOutcome> =>
  execute(executor, 'java', code, '', undefined, `account ${(accounts += 1)}`)

let accounts = 0

/** Waits for the next resident. */
export async function waitForResident(executor: Executor): Promise<void> {
  while (!wasResident(await executeAlone(executor, hello()))) await delay(200)
}

/** Header and jar of all that an executor has kept: what was compiled, without its figures. */
function readArtefacts(cacheDirectory: string): Map<string, { entry: string; sha256: string }> {
  const directory = `${cacheDirectory}/artefact`
  return new Map(
    readdirSync(directory).map((name) => {
      const file = readFileSync(`${directory}/${name}`)
      const { entry, sha256 } = JSON.parse(file.toString('utf8', 0, file.indexOf(10)))
      return [name, { entry, sha256 }]
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

/** Status, messages, class files and run must be the same; for all but a few the resident must have answered. */
export async function compareAll(t: Test, examples: Examples): Promise<void> {
  const makeDirectory = (): string => {
    const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
    t.teardown(() => rmSync(directory, { recursive: true, force: true }))
    return directory
  }
  const [residentDirectory, boxDirectory] = [makeDirectory(), makeDirectory()]
  const resident = await startWithResident(t, { cacheDirectory: residentDirectory })
  const box = await startExecutor(t, { cacheDirectory: boxDirectory })
  let residents = 0
  for (const [name, code] of examples) {
    // An account whose source takes the resident long has its next ones compiled in boxes.
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
