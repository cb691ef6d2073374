// A prestarted runtime behaves like the runtime that the command line starts. A program runs in a runtime that waited for
// it and in one that was started for it alone, in the same kind of box. Both find the same, write the same bytes and end in
// the same way.
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { ExecutionRequest, Executor } from '#executor'
import { findWorkerGroups } from '../../../../helper/control-group.ts'
import { execute, firstUid, run, scaleLimits, startExecutor } from '../../../../helper/executor.ts'
import type { TextPhase } from '../../../../helper/executor.ts'
import { until } from '../../../../helper/until.ts'

const mebibyte = 1024 * 1024
const enough = { memoryBytes: 256 * mebibyte, stdoutBytes: mebibyte, processes: 64 }
/** The limits of both executors. */
export const limits = scaleLimits(
  { ...enough, cpuSeconds: 60, wallSeconds: 240 },
  { cpuSeconds: 120, wallSeconds: 240 },
)

/** Whether a uid is one of this test's slots. Only root's slots have their own uids. */
const isOurs = (uid: number): boolean =>
  process.getuid?.() === 0 ? uid >= firstUid && uid < firstUid + 8 : uid === process.getuid?.()

/** Lists the pids of the runtimes that wait in this process's boxes. */
export function findWaiting(name: RegExp): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map(Number)
    .filter((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        const uid = Number(/^Uid:\t(\d+)/m.exec(status)?.[1])
        return name.test(/^Name:\t(.*)$/m.exec(status)?.[1] ?? '') && isOurs(uid)
      } catch {
        return false
      }
    })
}

/** Returns the pid of a waiting runtime, as soon as there is one. */
export async function findOne(name: RegExp): Promise<number> {
  await until(() => findWaiting(name).length > 0)
  return findWaiting(name)[0] ?? findOne(name)
}

/** Masks what may differ: the start time, and kernel figures that are different for any two processes. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/^(FDSize|Vm|Rss|Hugetlb|voluntary|nonvoluntary|Threads|SigQ|Cpus_allowed|Mems_allowed|Pid|NSpid|Tgid|Ngid|PPid|NStgid|NSpgid|NSsid|x86|Speculation|untag|State|ShdPnd).*$/gm, ''], // prettier-ignore
  [/^Max cpu time.*$/gm, ''],
  [/^\d+ \d+ \d+:\d+ /gm, ''],
  [/[ug]id=\d{4,}/g, ''],
  [/size=\d+k/g, ''],
  [/^\[\d+\.\d+s\]/gm, ''],
  [/inode\d+/g, ''],
]

function mask(text: string): string {
  return masks.reduce((masked, [pattern, replacement]) => masked.replaceAll(pattern, replacement), text) // prettier-ignore
}

function describe({ ending, exitCode, signal, stdout, stderr }: TextPhase) {
  return { ending, exitCode, signal, stdout: mask(stdout), stderr: mask(stderr) }
}

/** First lines for the program of either runtime, by their subject. test/language has further ends, in waiting runtimes. */
const words: Readonly<Record<string, string>> = {
  'its input and arguments': 'echo',
  'what it knows of itself': 'properties',
  'its variables, and those of a child': 'variables',
  'its environment in /proc': 'environ',
  'its rights, and those of the first process': 'status',
  'its limits': 'limits',
  'its descriptors': 'descriptors',
  'its mounts': 'mounts',
  'its cgroup': 'cgroup',
  'its scheduling class and score': 'class',
  'its command line': 'arguments',
  'the files that it finds': 'files',
  'what another has left': 'files',
  'more memory than allowed': 'memory',
  'a full disk': 'disk',
  'deep recursion': 'recursion',
  'more processes than allowed': 'children',
}

/** A prestarted runtime, and a program for it. */
export interface Runtime {
  readonly language: 'java' | 'javascript'
  /** The kernel's name of its process. */
  readonly name: RegExp
  /** A program that does what the first line of its input says. */
  readonly code: string
  /** Further first lines. */
  readonly ownWords: Readonly<Record<string, string>>
}

/**
 * Compares the results of each word in both kinds of runtime.
 * @returns an executor with prestarted runtimes, and one that starts a runtime for each program.
 */
export async function compareWithOwn(
  t: Test,
  { language, name, code, ownWords }: Runtime,
): Promise<readonly [ready: Executor, alone: Executor]> {
  const options = { slots: 1, languages: [language], limits } as const
  const ready = await startExecutor(t, { ...options, accelerators: ['prestart'] })
  const alone = await startExecutor(t, { ...options, firstUid: firstUid + 4, accelerators: [] })
  const say = (executor: Executor, word: string): Promise<TextPhase> =>
    run(executor, language, code, `${word}\nfirst\nsecond\n`)
  const ask = async (executor: Executor, word: string): Promise<TextPhase> => {
    if (executor === ready) await findOne(name)
    return say(executor, word)
  }

  t.test('it was up before its program', async (t) => {
    await ask(ready, 'echo')
    const waiting = await findOne(name)
    await delay(2000)
    const { stdout } = await ask(ready, 'age')
    t.ok(Number(stdout) >= 2000, `${stdout.trim()} ms old`)
    t.notOk(findWaiting(name).includes(waiting), 'it served one program')
  })

  for (const [what, word] of Object.entries({ ...words, ...ownWords }))
    t.test(`${what}: as in one of its own`, async (t) => {
      // Before the other starts, whose process has the same name.
      await findOne(name)
      const [one, other] = await Promise.all([say(ready, word), say(alone, word)])
      t.strictSame(describe(one), describe(other))
      t.not(one.stdout, 'what?\n')
    })

  t.test('it is charged for its memory, and not for the time before', async (t) => {
    const [one, other] = [await ask(ready, 'echo'), await ask(alone, 'echo')]
    const [bytes, ownBytes] = [one.usage.memoryPeakBytes, other.usage.memoryPeakBytes]
    t.ok(bytes > ownBytes / 2 && bytes < 1.5 * ownBytes, `${bytes} and ${ownBytes} bytes`)
    // The least of several runs counts, because on a busy machine one run may take twice as long as another.
    const least = async (executor: Executor): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < 5; round += 1)
        times.push((await ask(executor, 'echo')).usage.cpuSeconds)
      return Math.min(...times)
    }
    t.ok((await least(ready)) < (await least(alone)))
  })

  t.test('the kernel’s own limit of CPU time is the program’s', async (t) => {
    const seconds = async (executor: Executor): Promise<number> =>
      Number(/^Max cpu time +(\d+)/m.exec((await ask(executor, 'limits')).stdout)?.[1])
    const [one, other] = [await seconds(ready), await seconds(alone)]
    t.ok(one > other && one <= other + 2, `${one}, ${other}: beyond what its start took`)
  })

  t.test('other words, fewer processes and little memory have one of their own', async (t) => {
    const usual = limits[language]
    const others: Partial<ExecutionRequest>[] = [
      { arguments: ['a', 'b'] },
      { limits: { ...usual, run: { ...usual.run, processes: 24 } } },
      { limits: { ...usual, run: { ...usual.run, memoryBytes: 48 * mebibyte } } },
    ]
    const waiting = await findOne(name)
    for (const other of others)
      t.match(await run(ready, language, code, 'exit', other), { exitCode: 7 })
    t.equal(await findOne(name), waiting, 'the one that waits is not theirs')
  })

  t.test('one that is killed while it waits is replaced, and no program hears of it', async (t) => {
    const waiting = await findOne(name)
    process.kill(waiting, 'SIGKILL')
    t.match(await say(ready, 'exit'), { exitCode: 7 })
    await until(() => !findWaiting(name).includes(waiting))
    t.match(await ask(ready, 'exit'), { exitCode: 7 })
    t.equal(ready.slots, 1)
    const next = await findOne(name)
    process.kill(next, 'SIGKILL')
    await until(async () => (await findOne(name)) !== next)
  })

  t.test('a run that is aborted ends it, and the next has another', async (t) => {
    const abort = new AbortController()
    const looping = execute(ready, language, code, 'loop\n', { signal: abort.signal })
    setTimeout(() => abort.abort(new Error('enough')), 300)
    await t.rejects(looping, /enough/)
    t.match(await ask(ready, 'exit'), { exitCode: 7 })
  })
  return [ready, alone]
}

/** Checks that nothing of the waiting runtimes is left behind. Must be the last test, because it closes the executors. */
export function testEnd(t: Test, executors: readonly Executor[], { name }: Runtime): void {
  t.test('nothing of those that wait is left behind', async (t) => {
    await findOne(name)
    await Promise.all(executors.map((executor) => executor.close()))
    t.same(findWaiting(name), [])
    t.same(findWorkerGroups(process.pid), [])
  })
}
