// An event's facts about tests are kept short, because the log keeps them for ever.
import t from 'tap'
import { digestBody } from '#event'
import type { TestFacts } from '#event'
import { shortenFacts } from '../../../src/job/execute/completion.ts'

const output = { ...digestBody(Buffer.alloc(4_000_000)), truncated: true }
const long: TestFacts = {
  verdict: 'TLE',
  ending: 'output_limit',
  exit_code: 137,
  signal: 'SIGVTALRM',
  cpu_time: 12.345678,
  wall_time: 12.345678,
  memory_peak: 2_147_483_648,
  limit: 'wall_time',
  stdout: output,
  stderr: output,
}
const short: TestFacts = { verdict: null }

// The size as PostgreSQL formats jsonb, with a space after each comma and colon.
const sizeOf = (facts: readonly TestFacts[]): number =>
  JSON.stringify(facts).replaceAll(/[,:]/g, '$& ').length

t.test('of few tests all is said, of many the verdict of each', async (t) => {
  const few = [long, short, long]
  t.strictSame(shortenFacts(few), few)
  const many = Array.from({ length: 200 }, () => long)
  const said = shortenFacts(many)
  t.ok(sizeOf(said) <= 6000, `${sizeOf(said)} of ${sizeOf(many)} bytes`)
  t.strictSame([said[0], said[199], said.length], [long, { verdict: 'TLE' }, 200])
  const stopped = [long, ...Array.from({ length: 199 }, () => short)]
  t.strictSame(shortenFacts(stopped), stopped)
})

t.test('it is all of the first ones: none that is shorter overtakes', async (t) => {
  const facts = Array.from({ length: 50 }, (_, index): TestFacts =>
    index % 2 === 0 ? long : { ...long, ending: 'x', signal: null },
  )
  const said = shortenFacts(facts)
  const whole = said.findLastIndex((test) => 'ending' in test) + 1
  t.ok(whole > 0 && whole < 50)
  t.strictSame(said.slice(0, whole), facts.slice(0, whole))
})
