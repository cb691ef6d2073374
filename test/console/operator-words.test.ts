// The logic of the operators' view that needs no browser.
import t from 'tap'
import {
  formatAge,
  formatPercentiles,
  formatRate,
  formatUse,
  isUsedUp,
  judgeLedger,
  judgeWorker,
  listOrders,
} from '../../src/console/page/operator/words.ts'
import { formatRoute, parseRoute } from '../../src/console/page/route.ts'

t.test('ages, rates and use are told in the unit that fits', async (t) => {
  t.strictSame([-1, 0.08, 2.5, 720, 11_520, 345_600].map(formatAge), ['0 s', '80 ms', '2.5 s', '12 min', '3.2 h', '4 d']) // prettier-ignore
  t.strictSame([formatRate(600, 300), formatRate(3000, 10), formatRate(3, 300), formatRate(5, 0)], ['2/s', '300/s', '0.01/s', '0/s']) // prettier-ignore
  t.equal(formatPercentiles({ p50: 0.01, p95: 1.5, p99: 90 }), '10 ms / 1.5 s / 2 min')
  t.equal(formatPercentiles(null), '–')
  t.strictSame([formatUse(3, 10), formatUse(3, null)], ['3 of 10', '3'])
  t.strictSame([isUsedUp(9, 10), isUsedUp(10, 10), isUsedUp(10, null)], [false, true, false])
})

t.test('a ledger is whole only when somebody looked and found nothing', async (t) => {
  const ledger = {
    drift: 0,
    broken_chain: 0,
    invariant: 0,
    checked_at: '2030-01-01T00:00:00Z',
    walked_at: null,
    walked_up_to: '2030-01-01T00:00:00Z',
    suspects: [],
  }
  const at = '2030-01-01T00:00:05Z'
  const told = judgeLedger(ledger, at)
  t.match(told, { tone: 'good', text: /Newest events verified 5 s ago, the whole ledger not yet/ })
  t.match(judgeLedger({ ...ledger, checked_at: null }, at), { tone: 'none' })
  for (const finding of ['drift', 'broken_chain', 'invariant'])
    t.match(judgeLedger({ ...ledger, [finding]: 1 }, at), { tone: 'fault' }, finding)
})

t.test('only what may be wanted of a worker is offered', async (t) => {
  t.strictSame(listOrders({ state: 'working', wanted: 'working' }), ['pause', 'drain'])
  t.strictSame(listOrders({ state: 'suspended', wanted: 'working' }), ['pause', 'drain'])
  t.strictSame(listOrders({ state: 'paused', wanted: 'paused' }), ['resume', 'drain'])
  t.strictSame(listOrders({ state: 'draining', wanted: 'drained' }), [])
  t.strictSame(listOrders({ state: 'gone', wanted: 'working' }), [])
  const told = (['working', 'suspended', 'gone', 'paused'] as const).map((state) =>
    judgeWorker({ state }),
  )
  t.strictSame(told, ['good', 'bad', 'bad', 'none'])
})

t.test('its address is one', async (t) => {
  t.strictSame(parseRoute('#/service'), { view: 'service' })
  t.equal(formatRoute({ view: 'service' }), '#/service')
  for (const more of [{ q: 'a & b=c' }, { show: 'running' }] as const) {
    const route = { view: 'service', ...more } as const
    t.strictSame(parseRoute(formatRoute(route)), route)
  }
  t.strictSame(parseRoute('#/service?show=other&q='), { view: 'service' })
})
