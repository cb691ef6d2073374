// Programs and interactors leave nothing behind, whatever they do to each other: no process, cgroup, mount, file or IPC of
// the slots' users, and no descriptor or child process of the worker. Counted after each kind of misbehaviour, on this
// host's cgroup version.
import t from 'tap'
import type { Phase } from '#executor'
import { judgeInteraction } from '../../src/job/execute/program-checker.ts'
import { makeDirectory } from '../helper/directory.ts'
import {
  cacheScope,
  firstUid,
  scaleLimits,
  shareKeeper,
  startExecutor,
} from '../helper/executor.ts'
import { watchStart } from '../hostile/profile.ts'
import { findResidue, takeBaseline } from '../hostile/residue.ts'
import { halve, halveC, judge, judgeC, ways } from './ways.ts'
import type { Program, Way } from './ways.ts'

const slots = 2
const cacheDirectory = makeDirectory(t)
shareKeeper(cacheDirectory)
const watched = await watchStart(() =>
  startExecutor(t, { slots, languages: ['python', 'cpp'], cacheDirectory }),
)
const { executor } = watched
const uids = Array.from({ length: 2 * slots }, (_, index) => firstUid + index)
const arenas = [{ ...watched, uids, cacheDirectory, missing: [] }]

/** Runs a test whose input is 700. @returns null when the program did not run. */
async function run(
  [language, code]: Program,
  [other, judging]: Program,
  given: object,
): Promise<Phase | null> {
  const { cpu_time: cpuSeconds, wall_time: wallSeconds, stdout: stdoutBytes } = given as Readonly<Partial<Record<string, number>>> // prettier-ignore
  const limits = scaleLimits({
    ...(cpuSeconds !== undefined && { cpuSeconds }),
    ...(wallSeconds !== undefined && { wallSeconds }),
    ...(stdoutBytes !== undefined && { stdoutBytes }),
  })[language]
  const files = { input: '700', answer: '' }
  const interactor = {
    runFiles: Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) })),
    arguments: ['input', 'output', 'answer'],
  }
  const { run } = await executor.execute({
    language,
    code: Buffer.from(code),
    stdin: new Uint8Array(),
    cacheScope,
    limits,
    interactor: { language: other, code: Buffer.from(judging) },
    runs: { inputs: [{ stdin: new Uint8Array(), interactor }], onRun: () => false },
  })
  return run
}

/** Judges a run. The expected judgement is in the table of ways. */
function judgeRun(phase: Phase | null): object {
  if (phase?.interactor === undefined) return { verdict: 'none' }
  return judgeInteraction(phase, phase.interactor)
}

// The first runs open what stays open, so they come before the baseline.
for (const [program, interactor] of [
  [halve, judge],
  [halveC, judgeC],
] as const)
  await Promise.all(Array.from({ length: slots }, () => run(program, interactor, {})))
await executor.settled()
// A keeper makes all its mounts below /tmp, and no other test mounts there.
const baseline = takeBaseline(arenas, (mount) => /^\/tmp(?:\/|$)/.test(mount.split(' ')[4] ?? ''))

const verdictOf = ({ expected }: Way): object => ({
  verdict: (expected as { readonly verdict: unknown }).verdict,
})

for (const way of ways)
  t.test(`${way.name} leaves nothing`, async (t) => {
    const judged = judgeRun(await run(way.program, way.interactor, way.limits))
    t.match(judged, verdictOf(way), JSON.stringify(judged))
    t.strictSame(await findResidue(baseline, arenas), [])
  })

t.test('those that flood and those that leave something do so at once', async (t) => {
  const worst = ways.filter(({ name }) => /floods|leaves/.test(name))
  t.ok(worst.length >= 5)
  await Promise.all(worst.map((way) => run(way.program, way.interactor, way.limits)))
  t.strictSame(await findResidue(baseline, arenas), [])
  t.match(judgeRun(await run(halve, judge, {})), { verdict: 'AC' })
})

t.test('one that is stopped leaves nothing', async (t) => {
  const stop = new AbortController()
  const waits: Program = ['python', 'input()']
  const ended = executor.execute({
    language: 'python',
    code: Buffer.from(waits[1]),
    stdin: new Uint8Array(),
    cacheScope,
    stop: stop.signal,
    interactor: { language: 'python', code: Buffer.from(waits[1]) },
    runs: { inputs: [{ stdin: new Uint8Array() }], onRun: () => false },
    onSlot: () => setTimeout(() => stop.abort(), 300),
  })
  await ended
  t.strictSame(await findResidue(baseline, arenas), [])
})
