// Points and groups of tests: the record's score, the skipped tests, what the log keeps of them, and every mistake.
import t from 'tap'
import type { Issue } from '#error'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { openStream } from '../helper/stream.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
await startWorkerProcess(t, url)
const { call, issue, port } = await startServer(t, sql, { url, syncWaitSeconds: 300 })

/** A program that is right for every number except those of the list. */
const wrongFor = (wrong: readonly number[]): string =>
  `n = int(input())\nprint(-1 if n in ${JSON.stringify(wrong)} else n * 2)`
const test = (n: number, more: object = {}): object => ({
  stdin: `${n}\n`,
  expected_stdout: `${2 * n}\n`,
  ...more,
})
const post = (body: object, wait = true): Promise<Answer> =>
  call('POST', `/api/submit${wait ? '?wait=true' : ''}`, { body: { language: 'python', ...body } })
const verdicts = ({ body }: Answer): unknown[] =>
  body.tests.map(({ verdict }: { verdict: unknown }) => verdict)

t.test('each test’s points count when it passes', async (t) => {
  const tests = [test(1, { points: 10 }), test(2, { points: 20.5 }), test(3)]
  const all = await post({ code: wrongFor([]), tests })
  t.match(all.body, { verdict: 'AC', score: 30.5, max_score: 30.5, groups: null })
  const some = await post({ code: wrongFor([1]), tests, stop_on_failure: false })
  t.match(some.body, { verdict: 'WA', score: 20.5, max_score: 30.5 })
  const none = await post({ code: wrongFor([1]), tests, stop_on_failure: true })
  t.match(none.body, { verdict: 'WA', score: 0, max_score: 30.5 })
  t.strictSame(verdicts(none), ['WA', null, null])
})

t.test('a record without points says nothing of a score', async (t) => {
  for (const more of [{}, { tests: [test(1)] }]) {
    const { body } = await post({ code: wrongFor([]), stdin: '1', ...more, ...('tests' in more && { stdin: undefined }) }) // prettier-ignore
    t.equal(body.verdict, 'AC')
    t.strictSame(
      ['score', 'max_score', 'groups'].filter((name) => name in body),
      [],
    )
  }
})

const groups = [
  { name: 'small', points: 30 },
  { name: 'large', points: 70, require_pass: ['small'] },
  { name: 'other', points: 5 },
]
const grouped = [
  test(0),
  test(1, { group: 'small' }),
  test(2, { group: 'small' }),
  test(3, { group: 'large' }),
  test(4, { group: 'other' }),
  test(5, { group: 'large' }),
]

t.test('a group whose required one failed is not run, and the others are', async (t) => {
  const failed = await post({ code: wrongFor([1]), tests: grouped, groups })
  t.strictSame(verdicts(failed), ['AC', 'WA', 'AC', null, 'AC', null])
  t.match(failed.body, { verdict: 'WA', score: 5, max_score: 105 })
  t.strictSame(failed.body.groups, [
    { name: 'small', passed: false, score: 0, max_score: 30 },
    { name: 'large', passed: false, score: 0, max_score: 70 },
    { name: 'other', passed: true, score: 5, max_score: 5 },
  ])
  const stopped = await post({ code: wrongFor([1]), tests: grouped, groups, stop_on_failure: true })
  t.strictSame(verdicts(stopped), ['AC', 'WA', null, null, 'AC', null])
  const right = await post({ code: wrongFor([]), tests: grouped, groups })
  t.match(right.body, { verdict: 'AC', score: 105, max_score: 105 })
  const sample = await post({ code: wrongFor([0]), tests: grouped, groups })
  t.match(sample.body, { verdict: 'WA', score: 105, max_score: 105 })
})

t.test(
  'the score stands in the log, from which the result is made; the groups go with the outputs',
  async (t) => {
    const broken = await post({ language: 'cpp', code: 'int main( {', tests: grouped, groups })
    t.match(broken.body, { verdict: 'CE', score: 0, max_score: 105 })
    const { body } = await post({ code: wrongFor([3]), tests: grouped, groups, tag: 'scored' })
    t.match(body, { score: 35, max_score: 105 })
    const { events } = (await call('GET', `/api/result/${body.id}/events`)).body
    t.match(events.at(-1), { type: 'execution.completed', data: { score: 35, max_score: 105 } })
    t.strictSame([...(await sql`select * from audit.drift`)], [])
    const [listed] = (await call('GET', '/api/submissions?tag=scored')).body.submissions
    t.match(listed, { id: body.id, score: 35, max_score: 105 })
    t.notOk('groups' in listed)
    await sql`select runledger.purge_bodies(interval '-1 second', 100)`
    const purged = await call('GET', `/api/result/${body.id}`)
    t.match(purged.body, { score: 35, max_score: 105, tests: null, groups: null })
    t.strictSame([...(await sql`select * from audit.drift`)], [])
  },
)

t.test('streams tell of the tests that were run, each under its own number', async (t) => {
  const stream = await openStream({
    port,
    key: await issue(),
    path: '/api/submit',
    body: { language: 'python', code: wrongFor([1]), tests: grouped, groups },
  })
  const told = (await stream.ended).filter(({ event }) => event === 'test')
  t.strictSame(
    told.map(({ data }) => data.index),
    [0, 1, 2, 4],
  )
})

t.test('every mistake is told at its path', async (t) => {
  const mistakes = async (body: object): Promise<string[]> => {
    const { status, body: answer } = await post({ code: '', ...body }, false)
    t.equal(status, 400)
    return answer.issues.map(({ path, message }: Issue) => `${path} ${message}`)
  }
  const group = (name: unknown, more: object = {}): object => ({ name, points: 1, ...more })
  const a = group('a')
  const inA = { group: 'a' }
  for (const [body, ...issues] of [
    [{ groups: [a] }, 'groups needs tests'],
    [{ tests: [inA] }, 'tests.0.group needs groups'],
    [{ tests: [inA, { group: 'b' }], groups: [a] }, 'tests.1.group is not the name of a group'],
    [{ tests: [inA], groups: [a, group('b')] }, 'groups.1 has no test'],
    [{ tests: [inA], groups: [a, a] }, 'groups.1.name is the name of an earlier group'],
    [
      { tests: [{ ...inA, points: 1 }], groups: [a] },
      'tests.0.points cannot be combined with groups',
    ],
    [
      { tests: [inA, { group: 'b' }], groups: [group('a', { require_pass: ['b'] }), group('b')] },
      'groups.0.require_pass.0 is not the name of an earlier group',
    ],
    [
      { tests: [inA], groups: [group('a', { require_pass: ['a', 'x'] })] },
      'groups.0.require_pass.0 is not the name of an earlier group',
      'groups.0.require_pass.1 is not the name of an earlier group',
    ],
    [
      { tests: [inA, { group: 'b' }, inA], groups: [a, group('b', { require_pass: ['a'] })] },
      'groups.1.require_pass.0 has a test after the first test of this group',
    ],
    [{ tests: [inA], groups: [] }, 'groups holds no group'],
    [{ tests: [inA], groups: {} }, 'groups must be an array of groups'],
    [{ tests: [inA], groups: [group('')] }, 'groups.0.name must not be empty'],
    [{ tests: [inA], groups: [{ name: 'a' }] }, 'groups.0.points is required'],
    [{ tests: [inA], groups: [group('a', { points: -1 })] }, 'groups.0.points must be at least 0'],
    [{ tests: [{ points: 1e7 }] }, 'tests.0.points must be at most 1000000'],
    [{ tests: [{ points: '1' }] }, 'tests.0.points must be a number'],
    [
      { tests: [inA], groups: [group('a', { weight: 1 })] },
      'groups.0.weight is not a field of a group',
    ],
  ] as const)
    // prettier-ignore
    t.strictSame(await mistakes(body), issues, JSON.stringify(body))
})
