// The slot of a keeper whose box does not die in time: it takes no run until the box is gone, and then it takes runs again.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createPlace } from '../../../../src/executor/box/keeper/place.ts'
import type { PlacedKeeper } from '../../../../src/executor/box/keeper/place.ts'
import { openKeeperBoxes, request, writeStandIn, slot } from './lone-keeper.ts'

/** Makes a place for keepers whose group can be removed at the given attempt. */
function makePlace(removedAt: number, dyingSeconds = 600) {
  const made: PlacedKeeper[] = []
  const holds: Promise<void>[] = []
  let removals = 0
  const remove = async (): Promise<void> => {
    removals += 1
    if (removals < removedAt) throw new Error('its processes outlive SIGKILL')
  }
  const place = createPlace({
    async start() {
      const keeper = { failed: new Promise(() => {}) }
      const placed = { keeper, group: { remove }, close: remove, runs: 1 }
      made.push(placed as unknown as PlacedKeeper)
      return placed as unknown as PlacedKeeper
    },
    hold: (cleared) => void holds.push(cleared),
    dyingSeconds,
    refillMilliseconds: null,
    runsMost: Infinity,
    onMissing: () => {},
  })
  return { place, made, holds }
}

t.test('the slot is held until the box is gone', async (t) => {
  const { place, made, holds } = makePlace(3)
  const failed = await place.get()
  await t.rejects(place.replace(failed), 'the run does not wait for so long')
  t.equal(holds.length, 1)
  const early = await Promise.race([holds[0]?.then(() => 'clear'), sleep(100, 'held')])
  t.equal(early, 'held')
  t.equal(made.length, 1, 'no other keeper starts beside the box')
  await holds[0]
  await sleep(1)
  t.equal(made.length, 2, 'then another keeper starts')
  await place.close()
})

t.test('a box that never goes costs its slot', async (t) => {
  const { place, made, holds } = makePlace(Infinity, 1)
  await t.rejects(place.replace(await place.get()))
  await t.rejects(holds[0] ?? Promise.resolve(), { message: 'its processes outlive SIGKILL' })
  t.equal(made.length, 1)
  await place.close()
})

t.test('a place that is closed waits no longer', async (t) => {
  const { place, holds } = makePlace(Infinity)
  await t.rejects(place.replace(await place.get()))
  await place.close()
  await t.rejects(holds[0] ?? Promise.resolve(), { message: 'its processes outlive SIGKILL' })
})

t.test('a run that waits for its slot can be cancelled', async (t) => {
  const standIn = writeStandIn(t, "say('ready')\nhear_line()\nsys.exit(3)")
  const gone = Promise.withResolvers<void>()
  let started = 0
  const boxes = await openKeeperBoxes(t, {
    slots: [slot],
    chooseProgram: (built) => (started++ === 0 ? standIn : built),
    async createForKeeper(usual, name, uid) {
      const group = await usual(name, uid)
      return { ...group, remove: () => gone.promise.then(() => group.remove()) }
    },
  })
  const asked = request(['/bin/true'])
  boxes.run(slot, asked).catch(() => {})
  while (boxes.clearing(slot) === null) await sleep(5)
  const controller = new AbortController()
  const stop = controller.signal
  const waiting = boxes.run(slot, { ...asked, stop }).catch((reason: unknown) => reason)
  controller.abort(new Error('cancelled'))
  t.equal(await waiting, stop.reason)
  gone.resolve()
  t.equal((await boxes.run(slot, asked)).exitCode, 0, 'and the slot works again')
})
