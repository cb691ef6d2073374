// The hostile suite. It runs every attack of the tables in attack/ in each of its languages, four at a time, while another
// account works beside them. After each 32 the host must be unchanged and accept the next hello world. The suite then
// tries the channels over two runs in one slot, over two runs at once, and between a program and its interactor; these two
// then attack each other. An argument or HOSTILE (a regular expression for the name) selects attacks. The suite prints its
// counts.
import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import t from 'tap'
import type { Language } from '#language'
import {
  executeAlone,
  hello as javaHello,
  wasResident,
} from '../executor/toolchain/java/comparison.ts'
import { execute, plainOptions, timeFactor } from '../helper/executor.ts'
import { hello } from '../helper/program.ts'
import { openAccount } from './account.ts'
import { listLanguages } from './attack.ts'
import type { Attack, Profile } from './attack.ts'
import { attacks } from './attack/attacks.ts'
import { channels } from './attack/channels.ts'
import { pairAttacks } from './attack/pair.ts'
import { plantCanaries } from './canary.ts'
import { wrapChannel } from './channel.ts'
import { judgeHold, watchEventLoop } from './event-loop.ts'
import { exchangeAll } from './exchange.ts'
import type { Exchange, Play } from './exchange.ts'
import { findEscapes, judge } from './judge.ts'
import type { Result } from './judge.ts'
import { languageAttacks } from './language/all.ts'
import { createNeighbour, judgeLatency, quantile } from './neighbour.ts'
import { attackInPair, listPairCases } from './pair.ts'
import { openArena } from './profile.ts'
import type { Arena } from './profile.ts'
import { findResidue, hashToolchain, takeBaseline } from './residue.ts'
import type { Baseline } from './residue.ts'

const started = performance.now()
const wanted = new RegExp(process.argv[2] ?? process.env['HOSTILE'] ?? '', 'i')
const isWanted = ({ title }: { title: string }): boolean => wanted.test(title)

interface Case {
  readonly title: string
  readonly attack: Attack
  readonly language: Language
}

const nameNetwork = ({ network = 'none' }: Pick<Attack, 'network'>): string[] =>
  network === 'none' ? [] : [network]
const allCases: Case[] = [...attacks, ...languageAttacks]
  .flatMap((attack) =>
    listLanguages(attack.code).map((language) => ({
      title: `${attack.name} [${[language, attack.phase, ...nameNetwork(attack)].join(', ')}]`,
      attack,
      language,
    })),
  )
  .filter(isWanted)
const exchanges: Exchange[] = channels
  .flatMap((channel) =>
    listLanguages(channel.code).map((language) => ({
      title: `no bit passes by ${channel.name} [${[language, 'run', ...nameNetwork(channel)].join(', ')}]`,
      channel,
      language,
      code: wrapChannel(language, channel.code[language]!),
    })),
  )
  .filter(isWanted)

const pairs = listPairCases(pairAttacks).filter(isWanted)

const directory = mkdtempSync(`${tmpdir()}/runledger-hostile-`)
const canaries = await plantCanaries(directory)
const arenas = new Map<Profile | 'single', Arena>()
const profiles: (Profile | 'single')[] = [...new Set(allCases.map(({ attack }) => attack.profile))]
if (exchanges.length > 0 || pairs.length > 0) profiles.push('probe')
profiles.push('single')
for (const profile of new Set(profiles)) {
  const further = allCases
    .filter(({ attack }) => attack.profile === profile)
    .map(({ language }) => language)
  arenas.set(profile, await openArena(profile, directory, further))
}
const allArenas = [...arenas.values()]
const missing = new Set(allArenas.flatMap((arena) => arena.missing))
const cases = allCases.filter(({ language }) => !missing.has(language))
const toolchain = hashToolchain()
const find = (profile: Profile | 'single'): Arena => arenas.get(profile)!

// The first run of each kind opens resources that stay open: libraries, timers, pipes made in advance.
for (const { executor } of allArenas) {
  for (const language of listLanguages(hello)) {
    for (const network of ['none', 'loopback'] as const)
      await Promise.all(
        Array.from({ length: executor.slots }, () =>
          execute(executor, language, hello[language], '', { network }),
        ),
      )
  }
}
await Promise.all(allArenas.map(({ executor }) => executor.settled()))
const compilers = arenas.get('compile')
if (compilers !== undefined && plainOptions.accelerators === undefined) {
  const { executor } = compilers
  if (!wasResident(await executeAlone(executor, javaHello())))
    throw new Error('the executor of compile attacks has no resident compiler')
  await executor.settled()
}
// The image's suite may run beside this one.
const isOfContainer = /\/(?:containers|netns)\//
const baseline: Baseline = takeBaseline(allArenas, (mount) => !isOfContainer.test(mount))
const neighbour = createNeighbour(find('single').executor)
/** Seconds of the neighbour's programs beside attacks, and beside honest programs that use the processors all the time. */
const beside: { readonly attacked: number[]; honest: readonly number[] } = {
  attacked: [],
  honest: [],
}
const helloSeconds: number[] = []
const counts = { attacks: 0, escaped: 0, left: 0, other: 0 }
let longestHold = 0

/** Runs hello on every slot of the executor and returns its faults. */
async function sayHello({ executor }: Arena): Promise<string[]> {
  const hellos = await Promise.all(
    Array.from({ length: executor.slots }, () => execute(executor, 'python', hello.python)),
  )
  return hellos.flatMap(({ run }) => {
    if (run?.stdout !== 'hello\n' || run.ending !== 'exited')
      return [`hello: ${JSON.stringify(run)}`]
    const median = helloSeconds.toSorted((a, b) => a - b)[helloSeconds.length >> 1]
    helloSeconds.push(run.usage.wallSeconds)
    // Other work on the machine may delay a single run.
    const bound = ((median ?? 1) * 20 + 1) * timeFactor
    return run.usage.wallSeconds > bound ? [`hello took ${run.usage.wallSeconds} s`] : []
  })
}

/** Returns the faults of the host and the executor once nothing runs. */
async function inspectAfter(arena: Arena): Promise<string[]> {
  const left = await findResidue(baseline, allArenas)
  return [...left, ...canaries.inspect(), ...(await sayHello(arena))]
}

let accounts = 0

async function perform(
  { executor }: Arena,
  language: Language,
  code: string,
  { stdin = '', outputFiles, network, phase = 'run' }: Partial<Attack>,
): Promise<Result> {
  try {
    const asked = { network, ...(outputFiles && { outputFiles }) }
    const filled = canaries.fill(code)
    // A program is its own account, so that it is compiled once however often it attacks, and so that no program uses up another
    // one's share of the resident javac. A source that attacks a compiler is compiled each time.
    const cacheScope = phase === 'compile' ? `${(accounts += 1)}` : filled
    return { outcome: await execute(executor, language, filled, stdin, { ...asked, cacheScope }) }
  } catch (error) {
    return { error }
  }
}

/** Returns the bytes of memory that runs and compilers report. */
function sumMemory(results: readonly Result[]): number {
  return results
    .flatMap((result) => ('error' in result ? [] : [result.outcome.compile, result.outcome.run]))
    .reduce((sum, phase) => sum + (phase?.usage.memoryPeakBytes ?? 0), 0)
}

function report(title: string, results: readonly Result[], faults: string[], left: string[]): void {
  const escapes: string[] = []
  for (const result of results) {
    // A program that makes the executor fail gets no verdict and costs its neighbours an attempt.
    if ('error' in result) escapes.push(`execute threw: ${String(result.error)}`)
    else escapes.push(...findEscapes(result.outcome, canaries.secrets))
  }
  counts.attacks += 1
  if (escapes.length > 0) counts.escaped += 1
  if (left.length > 0) counts.left += 1
  if (escapes.length === 0 && left.length === 0 && faults.length > 0) counts.other += 1
  t.test(title, (t) => {
    t.same(escapes, [], 'nothing escaped')
    t.same(left, [], 'nothing is left and hello is accepted')
    t.same(faults, [], 'it ended as it should')
    t.end()
  })
}

/** Runs honest programs on every slot. They use all their CPU time in as many processes as there are processors. */
async function workHonestly({ executor }: Arena): Promise<void> {
  const code = `import os
for _ in range(${availableParallelism() - 1}):
    if os.fork() == 0: break
while True: pass
`
  await Promise.all(Array.from({ length: executor.slots }, () => execute(executor, 'python', code)))
}

/** The attacks between two looks at the host, for each slot. A slot that is done takes the next attack. */
const attacksEach = 8

function divide<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  )
}

/**
 * Divides cases into groups. Cases of which account.ts measures the costs are few at a time, because each case of a group
 * adds to what the group may cost.
 */
function listGroups(all: readonly Case[], slots: number): Case[][] {
  const isAccounted = ({ attack }: Case): boolean => attack.accounted === true
  return [
    ...divide(all.filter(isAccounted), slots),
    ...divide(
      all.filter((one) => !isAccounted(one)),
      attacksEach * slots,
    ),
  ]
}

const company = arenas.get('bomb') ?? allArenas[0]!
const stopHonest = neighbour.start()
for (let round = 0; round < 10; round += 1) await workHonestly(company)
beside.honest = (await stopHonest()).seconds

for (const profile of ['bomb', 'probe', 'compile', 'language', 'compiler'] as const) {
  const mine = cases.filter(({ attack }) => attack.profile === profile)
  if (mine.length === 0) continue
  const arena = find(profile)
  for (const group of listGroups(mine, arena.executor.slots)) {
    const account = group.some(({ attack }) => attack.accounted) ? openAccount() : null
    const performAll = (): Promise<Result[]> =>
      Promise.all(
        group.map(({ attack, language }) =>
          perform(arena, language, attack.code[language]!, attack),
        ),
      )
    const stopNeighbour = neighbour.start()
    const watch = watchEventLoop()
    const results = await performAll()
    let held = watch.stop()
    let floor = 0
    const disturbed = await stopNeighbour()
    beside.attacked.push(...disturbed.seconds)
    if (judgeHold(held).length > 0) {
      // The garbage collector may have run during the first attempt; only a delay that the attack causes occurs again.
      const second = watchEventLoop()
      await performAll()
      held = Math.min(held, second.stop())
      const honest = watchEventLoop()
      await sayHello(arena)
      floor = honest.stop()
    }
    longestHold = Math.max(longestHold, held)
    const left = [
      ...disturbed.faults,
      ...judgeHold(held, floor),
      ...(await inspectAfter(arena)),
      ...((await account?.settle(sumMemory(results))) ?? []),
    ]
    for (const [index, one] of group.entries()) {
      const result = results[index]!
      const faults = judge(one.attack, result)
      report(one.title, [result], faults, left)
    }
  }
}

const play =
  (arena: Arena): Play =>
  ({ channel, language, code }, role) =>
    perform(arena, language, code, { stdin: role, network: channel.network })

// Two at a time: each of their four programs has a slot, so that they certainly run at once.
for (const group of divide(exchanges, 2)) {
  const [single, many] = [find('single'), find('probe')]
  const stage = { single: play(single), many: play(many), executor: many.executor }
  const tried = await exchangeAll(group, stage)
  const left = [...(await inspectAfter(single)), ...(await inspectAfter(many))]
  for (const [index, { title }] of group.entries()) {
    const { results, faults } = tried[index]!
    report(title, results, [...faults], left)
  }
}

// Two at a time: each runs once from the program and once from the interactor, in a slot each.
for (const group of divide(pairs, 2)) {
  const arena = find('probe')
  const attackAll = () => Promise.all(group.map((one) => attackInPair(arena.executor, one)))
  const watch = watchEventLoop()
  const found = await attackAll()
  let held = watch.stop()
  if (judgeHold(held).length > 0) {
    const second = watchEventLoop()
    await attackAll()
    held = Math.min(held, second.stop())
  }
  longestHold = Math.max(longestHold, held)
  const left = [...judgeHold(held), ...(await inspectAfter(arena))]
  for (const [index, { title }] of group.entries()) {
    const { results, faults } = found[index]!
    report(title, results, [...faults], left)
  }
}

t.test("attacks hold up a neighbour's programs no longer than honest programs do", (t) => {
  t.same(judgeLatency(beside.attacked, beside.honest), [])
  t.end()
})

t.test('the programs that all boxes share are unchanged', (t) => {
  t.equal(hashToolchain(), toolchain)
  t.end()
})

// Not in t.teardown: the listeners keep the process alive, and tap waits for its end.
for (const { executor } of allArenas) await executor.close()
await canaries.remove()
const ideas = new Set([
  ...cases.map(({ attack }) => attack.name),
  ...exchanges.map(({ channel }) => channel.name),
  ...pairs.map(({ attack }) => attack.name),
])
const slowest = Math.max(0, ...helloSeconds)
const describe = (seconds: readonly number[]): string =>
  [0.5, 0.99, 1].map((part) => quantile(seconds, part).toFixed(3)).join(' / ')
const withNetwork = [
  ...cases.map(({ attack }) => attack),
  ...exchanges.map(({ channel }) => channel),
].filter(({ network = 'none' }) => network !== 'none').length
if (missing.size > 0) t.comment(`hostile: not installed: ${[...missing].join(', ')}`)
t.comment(
  `neighbour: ${beside.attacked.length} programs beside attacks took ${describe(beside.attacked)} s (p50 / p99 / max), ` +
    `${beside.honest.length} beside honest ones ${describe(beside.honest)} s`,
)
t.comment(
  `hostile: ${counts.attacks} attacks, ${counts.escaped} escaped, ${counts.left} left behind, ` +
    `${counts.other} ended otherwise, the event loop held for ${longestHold.toFixed(0)} ms at most (` +
    `${ideas.size} ideas, ${withNetwork} with a network, ${helloSeconds.length} hellos, ` +
    `slowest ${slowest.toFixed(2)} s, ${Math.round((performance.now() - started) / 1000)} s in all)`,
)
