// Memory that a run leaves charged to its slot is released before the slot is lent again. No other run waits for that or
// loses an attempt by it. Names that the kernel remembers as absent are an example.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { PhaseRequest } from '#contract'
import type { KeeperGroup } from '../../../../src/executor/cgroup/cgroup.ts'
import { makeDirectory } from '../../../helper/directory.ts'
import { execute, run, scaleLimits, startExecutor, timeFactor } from '../../../helper/executor.ts'
import { openKeeperBoxes, request, startLoneKeeper, writeStandIn, slot } from './lone-keeper.ts'

const mebibyte = 1024 * 1024

/** Looks up absent files in a shared directory. Their names take at least 8 MiB: each is long, as a lookup takes time. */
const look =
  'import os\nfor i in range(12_000):\n try: os.stat(f"/usr/lib/{os.getpid()}.{i:0240}")\n except OSError: pass'

function leaveNames(): PhaseRequest {
  const asked = request(['/usr/bin/python3', '-c', look])
  const limits = { ...asked.limits, cpuSeconds: 60 * timeFactor, wallSeconds: 120 * timeFactor }
  return { ...asked, limits: { ...limits, memoryBytes: 256 * mebibyte } }
}

/** Returns the memory charged to a keeper and its boxes, in MiB. */
function readHeld({ entrances, version }: Pick<KeeperGroup, 'entrances' | 'version'>): number {
  const [entrance = ''] = entrances.filter((path) => version === 'v2' || path.includes('/memory/'))
  const own = dirname(entrance)
  const file = version === 'v2' ? `${dirname(own)}/memory.current` : `${own}/memory.usage_in_bytes`
  return Number(readFileSync(file, 'utf8')) / mebibyte
}

t.test('a slot that holds names is settled before its next run', async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  const held = (): number => readHeld(group)
  await keeper.run(request(['/bin/true']))
  t.equal(keeper.settling, null, 'an empty run leaves nothing to give back')
  const before = held()
  t.match(await keeper.run(leaveNames()), { exit: { code: 0 } })
  t.not(keeper.settling, null)
  await keeper.settling
  t.equal(keeper.settling, null)
  t.ok(held() < before + 6, `${before} MiB before, ${held()} MiB after`)
  t.match(await keeper.run(request(['/bin/true'])), { exit: { code: 0 } })
  t.equal(keeper.settling, null)
  t.ok(keeper.alive)
})

t.test('and is lent to nobody before', async (t) => {
  let group: KeeperGroup | undefined
  const boxes = await openKeeperBoxes(t, {
    slots: [slot],
    async createForKeeper(usual, name, uid) {
      group = await usual(name, uid)
      return group
    },
  })
  // How long it is not clear cannot be told: on a slow machine it may be clear again when the result arrives.
  const held = (): number => (group === undefined ? 0 : readHeld(group))
  await boxes.run(slot, request(['/bin/true']))
  const before = held()
  t.match(await boxes.run(slot, leaveNames()), { exitCode: 0 })
  await boxes.clearing(slot)
  t.ok(held() < before + 6, `${before} MiB before, ${held()} MiB after`)
  t.equal(boxes.clearing(slot), null)
  t.match(await boxes.run(slot, request(['/bin/true'])), { exitCode: 0 })
  t.equal(boxes.clearing(slot), null)
})

t.test(
  'who comes next has another slot meanwhile, or waits before its own clock runs',
  async (t) => {
    for (const spares of [0, 1]) {
      const executor = await startExecutor(t, { slots: 1, spares })
      const code = look.replace('import os', 'import os\nprint("looked")')
      const { python: usual } = scaleLimits()
      const limits = { ...usual, run: { ...usual.run, cpuSeconds: 60, wallSeconds: 120 } }
      for (let round = 0; round < 2; round += 1) {
        const one = await execute(executor, 'python', code, '', { cacheScope: 'attacker', limits })
        t.match(one.run, { stdout: 'looked\n', exitCode: 0 })
        t.match(await run(executor, 'python', 'print("hello")'), { stdout: 'hello\n', exitCode: 0 })
      }
      t.equal(executor.slots, 1)
    }
  },
)

/** A stand-in that reports after its only run that its slot is not settled, and then runs `body`. */
function unsettled(body: string): string {
  return `say('ready')\nhear_line()\nsay(result(status=3, unsettled=1))\n${body}`
}

for (const [name, body, alive] of [
  ['settled in the same breath', "say('settled')\nhear(1 << 20)", true],
  ['settled later', "time.sleep(0.2)\nsay('settled')\nhear(1 << 20)", true],
  ['gone instead', 'sys.exit(3)', false],
] as const) {
  t.test(`a keeper whose slot is ${name}`, async (t) => {
    const { keeper } = await startLoneKeeper(t, { program: writeStandIn(t, unsettled(body)) })
    t.match(await keeper.run(request(['/bin/true'])), { exit: { code: 3 } }, 'the result stands')
    await keeper.settling
    t.equal(keeper.alive, alive)
  })
}

t.test('a keeper that says so unasked is at fault', async (t) => {
  // The stand-in has the uid of a slot.
  const go = join(makeDirectory(t, 0o755), 'go')
  const body = `say('ready')\nhear_line()\nsay(result(status=3))\nwhile not os.path.exists('${go}'): time.sleep(0.01)\nsay('settled')\nhear(1 << 20)`
  const { keeper } = await startLoneKeeper(t, { program: writeStandIn(t, body) })
  t.match(await keeper.run(request(['/bin/true'])), { exit: { code: 3 } })
  writeFileSync(go, '')
  t.match(await keeper.failed, { step: 'keeper.protocol' })
})
