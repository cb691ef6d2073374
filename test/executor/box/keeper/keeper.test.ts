// A keeper that dies, hangs or answers nonsense is Runledger's failure and never a verdict: the run fails at a step
// `keeper.…`, nothing of it is left, and the slot works again. Also: what a keeper must not let one run learn of another.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { NotStartedError, SandboxError } from '#executor'
import { startKeeper } from '../../../../src/executor/box/keeper/keeper-process.ts'
import { forksMost } from '../../../../src/executor/box/keeper/keeper.ts'
import { openCgroupParent } from '../../../../src/executor/cgroup/cgroup.ts'
import { nameWorkerGroup } from '../../../../src/executor/cgroup/worker-group.ts'
import { createForkServer } from '../../../../src/executor/toolchain/python/python.ts'
import {
  execute,
  failsAt,
  firstUid,
  run,
  scaleLimits,
  startExecutor,
  timeFactor,
} from '../../../helper/executor.ts'
import { freeze, needsFreezer } from '../../../helper/freeze.ts'
import { until } from '../../../helper/until.ts'
import {
  interpreter,
  listProcesses,
  openKeeperBoxes,
  openLaunches,
  request,
  startLoneKeeper,
  writeStandIn,
} from './lone-keeper.ts'
import { isForked } from './python-fork/program.ts'

/** Finds the host pids of this process's keepers with a uid, by their program. */
function findKeepers(uid: number): { readonly plain: number[]; readonly python: number[] } {
  const found = { plain: [] as number[], python: [] as number[] }
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      const field = (key: string): number =>
        Number(new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(status)?.[1])
      if (field('PPid') !== process.pid || field('Uid') !== uid || /^State:\s*[ZX]/m.test(status))
        continue
      const program = readlinkSync(`/proc/${name}/exe`)
      found[program.includes('python') ? 'python' : 'plain'].push(Number(name))
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found
}

const slotUid = process.getuid?.() === 0 ? firstUid : (process.getuid?.() ?? 0)
/** Programs that print a line, and sleep for as many seconds as their input says. */
const sleepers = {
  python: 'import time\nn = int(input())\nprint(flush=True)\ntime.sleep(n)',
  cpp: '#include <cstdio>\n#include <unistd.h>\nint main() { int n; scanf("%d", &n); puts(""); fflush(stdout); sleep(n); }',
}

t.test('a keeper that is killed, idle or at work, is replaced', async (t) => {
  const executor = await startExecutor(t, { slots: 1 })
  await run(executor, 'cpp', sleepers.cpp, '0')
  for (const [language, kind] of [
    ['python', 'python'],
    ['cpp', 'plain'],
  ] as const) {
    const code = sleepers[language]
    for (const idle of [true, false]) {
      // The resident interpreter that replaces a failed one starts in the background. Until it is ready, the other keeper
      // runs Python, too.
      if (kind === 'python') {
        await until(async () => (await run(executor, 'python', isForked)).stdout === 'True\n')
      }
      await until(() => findKeepers(slotUid)[kind].length > 0)
      const keeper = findKeepers(slotUid)[kind][0]!
      t.equal((await run(executor, language, code, '0')).exitCode, 0)
      if (idle) {
        process.kill(keeper, 'SIGKILL')
        await until(() => !findKeepers(slotUid)[kind].includes(keeper))
        const attempt = execute(executor, language, code, '0')
        t.match(await attempt, { run: { exitCode: 0 } }, `${kind}, idle: it costs no run`)
      } else {
        const begun = Promise.withResolvers<void>()
        const tap = { open() {}, note: () => begun.resolve(), close() {} }
        const live = { compiled() {}, tap }
        const attempt = execute(executor, language, code, '60', { live })
        const refused = t.rejects(attempt, failsAt('keeper.gone'), `${kind}, at work`)
        await begun.promise
        process.kill(keeper, 'SIGKILL')
        await refused
      }
      t.equal((await run(executor, language, code, '0')).exitCode, 0, 'the slot works again')
    }
  }
  await executor.close()
  t.same(findKeepers(slotUid), { plain: [], python: [] }, 'none outlives the executor')
})

t.test('keepers that hang, lie or die are found out, and nothing of them is left', async (t) => {
  const prepare = await openLaunches(t)
  const after = (body: string): string => `say('ready')\nhear_line()\n${body}\ntime.sleep(60)`
  const cases: readonly (readonly [name: string, body: string, step: RegExp])[] = [
    ['ends at once', 'sys.exit(3)', /^keeper\.start/],
    ['is ready in too many bytes', "say('ready', bytes(3))\ntime.sleep(60)", /^keeper\.start/],
    ['is never ready', 'time.sleep(90)', /^keeper\.start/],
    ['speaks without being asked', "say('ready')\nsay('stdout', b'x')\ntime.sleep(60)", /^keeper\.protocol/],
    ['ends when idle', "say('ready')", /^keeper\.gone/],
    ['ends during a run', after("say('stdout', b'AC')\nsys.exit(0)"), /^keeper\.gone/],
    ['closes its socket', after('link.close()'), /^keeper\./],
    ['fails during a run', after("say('failed', b'box.clone: refused')"), /^keeper\.failed/],
    ['hangs during a run', after(''), /^keeper\.silent/],
    ['stops during a run', after('os.kill(os.getpid(), signal.SIGSTOP)'), /^keeper\.silent/],
    ['answers in half', after('link.sendall(result()[:30].encode())'), /^keeper\.silent/],
    ['sends an unknown message', after("say('strange')"), /^keeper\.protocol/],
    ['sends a message too long', after("link.sendall(b'stdout bytes=1000000000\\n')"), /^keeper\.protocol/],
    ['answers in too few fields', after("say(result().rsplit(' ', 1)[0])"), /^keeper\.protocol/],
    ['knows a signal 99', after("say(result(end='killed', status=99))"), /^keeper\.protocol/],
    ['has used an eternity', after('say(result(figures=(2**64-1,) * 6))'), /^keeper\.protocol/],
    ['has forgotten output', after("say('stdout', b'more than none')\nsay(result())"), /^keeper\.protocol/],
  ] // prettier-ignore
  const unasked = new Set(['speaks without being asked', 'ends when idle'])
  const limits = { wallSeconds: 1 }
  // They start one after the other, because on a slow machine all at once may take longer than a start may.
  let before: Promise<unknown> = Promise.resolve()
  await Promise.all(
    cases.map(async ([name, body, step], index) => {
      const launch = await prepare(`stand-in-${index}`, writeStandIn(t, body))
      let began = 0
      let failure: unknown
      const starting = before.then(() => {
        began = performance.now()
        return startKeeper(launch)
      })
      if (name !== 'is never ready') before = starting.catch(() => {})
      try {
        const keeper = await starting
        if (unasked.has(name)) await until(() => !keeper.alive)
        failure = await keeper.run(request(['/bin/true'], limits)).catch((error: unknown) => error)
        t.equal(keeper.alive, false, `${name}: it is never asked again`)
        t.type(
          await keeper.run(request(['/bin/true'], limits)).catch((error: unknown) => error),
          SandboxError,
        )
        await keeper.close()
      } catch (error) {
        failure = error
      }
      t.match(failure, { name: 'SandboxError', step }, name)
      t.ok(performance.now() - began < 60_000 * timeFactor, `${name}: in time`)
      launch.group.closeDescriptors()
      await launch.group.remove()
      t.notOk(
        launch.group.entrances.some((path) => existsSync(path)),
        `${name}: its cgroup is gone`,
      )
    }),
  )
})

t.test('what failed before its program was let go is told from what may have run', async (t) => {
  const prepare = await openLaunches(t)
  const heard = "say('ready')\nhear_line()\n"
  // The rest of the request is some 100 bytes that come at once.
  const whole = `${heard}link.recv(4096)\n`
  const cases: readonly (readonly [name: string, body: string, begun: boolean])[] = [
    ['says that it did not begin', `${whole}say('refused', b'group.settle: refused')`, false],
    ['says that it had begun', `${whole}say('failed', b'box.kill: refused')`, true],
    ['ends with the request unread', "say('ready')\nlink.recv(1)", false],
    ['ends with a part of it unread', heard, false],
    ['ends without a word when it has read all', whole, true],
    ['has passed output on, the request unread', `${heard}say('stdout', b'x')`, true],
  ]
  for (const [index, [name, body, begun]] of cases.entries()) {
    const launch = await prepare(`stand-in-${index}`, writeStandIn(t, body))
    const keeper = await startKeeper(launch)
    launch.group.closeDescriptors()
    const failure = await keeper.run(request(['/bin/true'])).catch((error: unknown) => error)
    t.type(failure, SandboxError, name)
    t.equal(failure instanceof NotStartedError, !begun, name)
    const next = await keeper.run(request(['/bin/true'])).catch((error: unknown) => error)
    t.type(next, NotStartedError, `${name}: it is never let go by one that has failed`)
    await keeper.close()
    await launch.group.remove()
  }
})

t.test('a box that does not go is found out after its result, which stands', async (t) => {
  const body =
    "say('ready')\nhear_line()\nsay(result(status=3, figures=(5000, 4000, 4096, 0, 0, 0)))\nsay('refused', b'box.clear: it does not go')\nhear(1 << 20)"
  const { keeper } = await startLoneKeeper(t, { program: writeStandIn(t, body) })
  t.match(await keeper.run(request(['/bin/true'])), { exit: { code: 3, signal: null } })
  await keeper.failed
  t.equal(keeper.alive, false)
  const next = await keeper.run(request(['/bin/true'])).catch((error: unknown) => error)
  t.match(next, { name: 'SandboxError', step: 'keeper.failed' })
  t.type(next, NotStartedError)
})

t.test('a thousand runs leave neither listener nor descriptor', async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  const warnings: string[] = []
  process.on('warning', ({ name }) => warnings.push(name))
  const count = (): Readonly<Record<string, number>> => ({
    descriptors: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
    keeper: listProcesses(group).length,
    held: readdirSync(`/proc/${keeperPid}/fd`).length,
  })
  const { signal } = new AbortController()
  const ask = (): ReturnType<typeof keeper.run> => keeper.run(request(['/bin/echo', 'hi']), signal)
  await ask()
  // The keeper makes the next box, with a waiting process, a moment after the last result: the keeper and two more processes.
  await until(() => listProcesses(group).length === 3)
  const parentOf = (pid: number): string | undefined =>
    readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]
  const keeperPid = listProcesses(group).find((pid) => parentOf(pid) === String(process.pid))
  const before = count()
  for (let index = 0; index < 1000; index += 1) {
    const { exit, stdout } = await ask()
    if (exit?.code !== 0 || stdout.bytes.toString() !== 'hi\n') t.fail(`run ${index}`)
  }
  // The first count may include what the first run left, so only an increase is a fault.
  const listMore = (): string[] =>
    Object.entries(count()).flatMap(([name, found]) =>
      found > (before[name] ?? 0) ? [`${name}: ${found}`] : [],
    )
  // A leak would remain, however long this waits.
  for (let left = 6000; left > 0 && listMore().length > 0; left -= 1) await delay(10)
  t.strictSame(listMore(), [])
  t.same(warnings, [])
})

t.test('in one executor', async (t) => {
  const executor = await startExecutor(t, { slots: 1 })

  t.test('a run that is given up leaves no word that lets the next box go', async (t) => {
    for (let index = 0; index < 120; index += 1) {
      const controller = new AbortController()
      const given = execute(executor, 'python', 'print(1)', '', { signal: controller.signal })
      setTimeout(() => controller.abort(new Error('given up')), index % 4)
      await given.catch(() => {})
      const phase = await run(executor, 'python', 'print(input())', 'mine')
      if (phase.stdout !== 'mine\n') t.match(phase, { stdout: 'mine\n' }, `after ${index}`)
    }
    t.pass('every program ran with its own files and input')
  })

  t.test("a forked interpreter's memory holds nothing of another run", async (t) => {
    const secrets = ['code', 'input', 'output', 'error'].map(
      (place) => `secret-${place}-of-the-first`,
    )
    const [code, input, output, error] = secrets
    const first = `# ${code}\nimport sys\nn = input()\nprint("-".join("${output!.split('-').join(' ')}".split()))\nsys.exit("-".join("${error!.split('-').join(' ')}".split()))`
    // The program holds the text that it searches for only in pieces. Otherwise it would find itself.
    const look = `
found = []
areas = [line.split() for line in open("/proc/self/maps")]
with open("/proc/self/mem", "rb", 0) as memory:
  for area in areas:
    if not area[1].startswith("r") or area[-1].startswith("[v"): continue
    start, end = (int(text, 16) for text in area[0].split("-"))
    memory.seek(start)
    data = memory.read(end - start)
    at = data.find(b"secret-")
    while at >= 0:
      if b"-of-the-" in data[at + 7:at + 22]: found.append((area[-1], data[at + 7:at + 13]))
      at = data.find(b"secret-", at + 1)
# A page that forks share could be written to, whatever its present rights are.
found += [area for area in areas if area[1][3] == "s" and not area[-1].startswith("/usr/")]
print(found)`
    const isForked = (): boolean => findKeepers(slotUid).python.length > 0
    t.ok(isForked())
    for (let round = 0; round < 3; round += 1) {
      t.match(await run(executor, 'python', first, input), { stdout: `${output}\n`, exitCode: 1 })
      t.match(await run(executor, 'python', look), { stdout: '[]\n', stderr: '' })
    }
  })

  t.test('a program gives way to its keeper, and cannot leave the class that does', async (t) => {
    const cgroups = await openCgroupParent(nameWorkerGroup())
    t.teardown(() => cgroups.close())
    const group = await cgroups.createForKeeper('class', null)
    group.closeDescriptors()
    await group.remove()
    const classes = { normal: '0', idle: '5' }
    const expected = group.sharesCpu ? classes.idle : classes.normal
    const climb = `
import os
for policy in (os.SCHED_OTHER, os.SCHED_BATCH, os.SCHED_FIFO, os.SCHED_RR):
  for pid in (0, os.getpid()):
    try: os.sched_setscheduler(pid, policy, os.sched_param(int(policy in (os.SCHED_FIFO, os.SCHED_RR))))
    except PermissionError: pass
for who in (os.PRIO_PROCESS, os.PRIO_PGRP, os.PRIO_USER):
  try: os.setpriority(who, 0, -1)
  except PermissionError: pass
if os.fork() == 0:
  print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), flush=True)
  os._exit(0)
os.wait()
`
    const started = `import subprocess, sys\nsubprocess.run([sys.executable, "-c", sys.stdin.read()])`
    // For a class that is not idle, SCHED_BATCH (3) is no gain and therefore allowed.
    const nice = getPriority()
    const found = expected === classes.idle ? `5 ${nice}\n` : new RegExp(`^[03] ${nice}\\n$`)
    for (const [code, stdin] of [
      [climb, ''],
      [started, climb],
    ] as const)
      t.match(await run(executor, 'python', code, stdin), { stdout: found, exitCode: 0 })
    const cpp =
      '#include <cstdio>\n#include <sched.h>\nint main() { printf("%d", sched_getscheduler(0)); }'
    t.match(await run(executor, 'cpp', cpp), { stdout: expected })
  })
})

t.test('what one run leaves charged does not widen the limit of the next', async (t) => {
  const memoryBytes = 64 << 20
  const limits = scaleLimits({ memoryBytes, cpuSeconds: 30, wallSeconds: 60 })
  const executor = await startExecutor(t, { slots: 1, limits })
  const takeAll = `#include <cstdio>
#include <cstdlib>
#include <cstring>
int main() { for (int i = 1; i < 512; i++) { memset(malloc(1 << 20), 1, 1 << 20); printf("%d\\n", i); fflush(stdout); } }`
  // Looks up names that do not exist. The kernel remembers each of them for as long as it has room.
  const lookUp = `#include <cstdio>
#include <sys/stat.h>
int main() { struct stat s; char name[200]; for (int i = 0; i < 250000; i++) { sprintf(name, "/usr/lib/no-such-name-%d", i); stat(name, &s); } }`
  const share = `#include <cstring>
#include <sys/shm.h>
int main() { int id = shmget(0x11, 40 << 20, IPC_CREAT | 0600); memset(shmat(id, nullptr, 0), 1, 40 << 20); }`
  const count = async (): Promise<number> => {
    const phase = await run(executor, 'cpp', takeAll)
    t.equal(phase.ending, 'memory_limit')
    return phase.stdout.trim().split('\n').length
  }
  await count()
  for (const code of [lookUp, share]) {
    for (let round = 0; round < 2; round += 1) {
      t.match(await run(executor, 'cpp', code), { ending: 'exited' })
      const mebibytes = await count()
      t.ok(mebibytes <= 64 + 8, `${mebibytes} MiB under a limit of 64`)
    }
  }
})

t.test('files find room, whatever the last run may have had', async (t) => {
  const { keeper } = await startLoneKeeper(t)
  const large = request(['/bin/sh', '-c', 'wc -c <large'], {
    files: { large: Buffer.alloc(100 << 20) },
  })
  for (let round = 0; round < 2; round += 1) {
    const little = request(['/bin/true'], { memoryBytes: 4 << 20 })
    t.match(await keeper.run(little), { exit: { code: 0 } })
    const evidence = await keeper.run(large)
    t.match(evidence, { exit: { code: 0 } })
    t.equal(evidence.stdout.bytes.toString().trim(), String(100 << 20))
  }
})

t.test("an interpreter's last words are told", async (t) => {
  const prepare = await openLaunches(t, [], ['/usr/bin/python3', '--no-such-option'])
  const launch = await prepare('speechless')
  await t.rejects(startKeeper(launch), failsAt('keeper.start', /python\.start: .*no-such-option/i))
  launch.group.closeDescriptors()
})

t.test('a program that cannot be started has failed itself, a toolchain has not', async (t) => {
  const { keeper } = await startLoneKeeper(t)
  const evidence = await keeper.run(request(['./main'], { files: { main: 'no program' } }))
  t.match(evidence, { exit: { code: 126, signal: null } })
  const gone = keeper.run(request(['/usr/bin/nonexistent']))
  await t.rejects(gone, failsAt('keeper.failed', /box\.exec/))
  t.equal(keeper.alive, false)
})

t.test('a keeper that a kill does not end costs its slot, and no more', needsFreezer, async (t) => {
  const executor = await startExecutor(t, {
    slots: 1,
    accelerators: [],
    dyingSeconds: 1,
    limits: scaleLimits({ wallSeconds: 1 }),
  })
  const [keeper] = findKeepers(slotUid).plain
  const { thaw } = freeze(t, keeper!)
  const began = performance.now()
  await t.rejects(execute(executor, 'python', 'print(1)'), failsAt('keeper.silent'))
  t.ok(performance.now() - began < 60_000 * timeFactor, 'in time')
  await until(() => executor.slots === 0)
  await t.rejects(execute(executor, 'python', 'print(1)'), failsAt('slot.acquire'))
  thaw()
  await until(() => !findKeepers(slotUid).plain.includes(keeper!))
})

t.test('what is left beside a box costs neither its run nor the next', async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  // On v2 a box has its own group beside the keeper's.
  if (group.version === 'v2') return
  const stranger = spawn('/bin/sleep', ['600'], { stdio: 'ignore' })
  t.teardown(() => stranger.kill('SIGKILL'))
  await once(stranger, 'spawn')
  for (const entrance of group.entrances) writeFileSync(entrance, String(stranger.pid))
  t.match(await keeper.run(request(['/bin/sh', '-c', 'exit 5'])), { exit: { code: 5 } })
  const next = await keeper.run(request(['/bin/true'])).catch((error: unknown) => error)
  t.type(next, NotStartedError)
  t.match(next, failsAt('keeper.failed', /group\.empty/))
  await keeper.close()
  await group.remove()
})

/**
 * Opens the boxes of one slot with a fork server. @param options `onCreate` and `onRemove` are called after a keeper's
 * group is made or removed.
 */
async function openForks(
  t: Test,
  {
    onCreate = async () => {},
    onRemove = () => {},
  }: { readonly onCreate?: () => Promise<void>; readonly onRemove?: () => void },
): Promise<{
  readonly ask: (code: string) => Promise<string>
  readonly close: () => Promise<void>
}> {
  const slot = { index: 0, uid: slotUid === firstUid ? firstUid : null, interactorUid: null }
  const boxes = await openKeeperBoxes(t, {
    slots: [slot],
    forkServers: [createForkServer('/usr/bin/python3')],
    dyingSeconds: 1,
    async createForKeeper(usual, name, uid) {
      const group = await usual(name, uid)
      await onCreate()
      const remove = async (): Promise<void> => {
        await group.remove()
        onRemove()
      }
      return { ...group, remove }
    },
  })
  return {
    close: () => boxes.close(),
    async ask(code) {
      const asked = request(interpreter, { files: { 'main.py': code } })
      return (await boxes.run(slot, asked)).stdout.toString()
    },
  }
}

t.test(
  'an interpreter that has had its most leaves, and programs start by themselves until the next is up',
  async (t) => {
    let made = 0
    const held = Promise.withResolvers<void>()
    const { ask, close } = await openForks(t, {
      onCreate: async () => {
        made += 1
        if (made === 3) await held.promise
      },
    })
    for (let run = 1; run < forksMost; run += 1) await ask('')
    t.equal(await ask(isForked), 'True\n')
    t.equal(await ask(isForked), 'False\n', 'programs start by themselves')
    held.resolve()
    await until(async () => (await ask(isForked)) === 'True\n')
    t.equal(made, 3)
    await close()
  },
)

t.test('what a replaced interpreter leaves costs its slot', async (t) => {
  let busy = false
  let removals = 0
  const { ask, close } = await openForks(t, {
    onRemove: () => {
      removals += 1
      if (busy) throw new SandboxError('cgroup.remove', 'busy')
    },
  })
  busy = true
  const askForEver = async (): Promise<never> => {
    for (;;) await ask('')
  }
  await t.rejects(askForEver(), failsAt('cgroup.remove'))
  t.equal(removals, 2, 'it was replaced, and its removal was repeated')
  busy = false
  await close()
})
