// Tests with invented strikes how the neighbour suite distinguishes an attack from a busy machine.
import t from 'tap'
import { attack } from './attack.ts'
import { harmless, judge } from './judge.ts'
import type { Struck } from './strike.ts'

const one = attack('an attack', [])
const well: Struck = {
  canary: [8, 9, 10, 12],
  victim: [320, 330],
  faults: [],
  doubts: [],
  ended: '1 cancelled',
}
const slow: Struck = { ...well, canary: [10, 2000], victim: [400] }
const late: Struck = { ...well, doubts: ['the victim: TLE'] }
const busy: Struck = { ...well, canary: [700, 900], victim: [1500] }

/** Judges an attack whose strikes, and the harmless ones between them, have the given results. */
async function judgeMadeUp(attacked: Struck[], between: Struck[] = []) {
  const strikes: string[] = []
  const found = await judge(
    one,
    async (which) => {
      strikes.push(which === harmless ? 'harmless' : 'attack')
      return (which === harmless ? between.shift() : attacked.shift()) ?? well
    },
    well,
  )
  return { ...found, strikes }
}

t.test('beside nothing unusual it is made once', async (t) => {
  const { faults, delays, isJudged, strikes } = await judgeMadeUp([well])
  t.strictSame([faults, delays, isJudged, strikes], [[], [], true, ['attack']])
})

t.test('what nothing excuses counts at once, in whichever strike', async (t) => {
  t.strictSame((await judgeMadeUp([{ ...well, faults: ['IE'] }])).faults, ['IE'])
  t.strictSame((await judgeMadeUp([slow, { ...well, faults: ['IE'] }])).faults, ['IE'])
  t.strictSame((await judgeMadeUp([slow], [{ ...well, faults: ['IE'] }])).faults, ['IE'])
})

for (const [name, struck] of Object.entries({ slow, late }))
  t.test(`what comes about twice between calm counts: ${name}`, async (t) => {
    const { delays, isJudged, strikes } = await judgeMadeUp([struck, struck])
    t.equal(delays.length, 1)
    t.ok(isJudged)
    t.strictSame(strikes, ['attack', 'harmless', 'attack', 'harmless'])
  })

t.test('what comes about once does not', async (t) => {
  const { delays, isJudged } = await judgeMadeUp([late, well])
  t.strictSame([delays, isJudged], [[], true])
})

t.test('a machine that is busy before or after is not judged by', async (t) => {
  for (const between of [
    [busy, busy, busy],
    [well, busy, busy, busy],
  ]) {
    const { delays, isJudged } = await judgeMadeUp([slow, slow], between)
    t.strictSame([delays, isJudged], [[], false])
  }
})

t.test('a machine that comes to rest is judged by', async (t) => {
  const { delays, isJudged } = await judgeMadeUp([slow, slow], [busy, well, well])
  t.equal(delays.length, 1)
  t.ok(isJudged)
})

t.test('so long as the attacker has both slots by rights nobody is blamed', async (t) => {
  const held = { ...one, holdsSeconds: 1 }
  const found = await judge(held, async () => ({ ...well, canary: [10, 2300] }), well)
  t.strictSame([found.delays, found.remarks.length], [[], 1])
})
