// Events of every version that was ever written are read in today's shape. Events of a later release are shown raw.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import { readStream, schemaVersion } from '#event'
import { readResult } from '#result'
import { describeEvent, sentences } from '../../src/cli/audit-story.ts'
import { openTestDatabase } from '../helper/database.ts'
import { finish, startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

/** An event as a release wrote it: a line of recorded.jsonl. Lines are added, never changed. */
interface Fixture {
  readonly type: string
  readonly schema_version: number
  /** Distinguishes several events of one version. */
  readonly kind?: string
  readonly recorded: Record<string, unknown>
  /** As today's release reads it; by default as it was recorded. */
  readonly read?: Record<string, unknown>
}

const fixtures = readFileSync(`${import.meta.dirname}/recorded.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Fixture)
const untold = { receivedAt: null, startedAt: null, attempt: null }
const { sql } = await openTestDatabase(t)

t.test('there is a fixture of every version of every type', async (t) => {
  const plain = fixtures.filter(({ kind }) => kind === undefined)
  t.strictSame(
    plain.map(({ type, schema_version: version }) => `${type} ${version}`).toSorted(),
    Object.keys(sentences)
      .map((type) => `${type} ${schemaVersion}`)
      .toSorted(),
  )
})

t.test('each is read from the log in the shape of today', async (t) => {
  for (const { type, schema_version: version, kind = '', recorded, read = recorded } of fixtures) {
    const name = `${type} ${version} ${kind}`
    const id = uuidv7()
    await sql`
      select runledger.append_event(${id}, 1, ${type}, ${version}, ${json(sql, recorded)}, '{}')`
    const [event] = await readStream(sql, id)
    t.strictSame(event?.data, read, name)
    if (event) t.notMatch(describeEvent(event, untold), 'does not know', name)
  }
})

t.test('what this release writes has the fields of the latest fixtures', async (t) => {
  const latest = (type: string): string[] => {
    const fixture = fixtures.find(
      (one) => one.kind === undefined && one.type === type && one.schema_version === schemaVersion,
    )
    return Object.keys(fixture?.recorded ?? {}).toSorted()
  }
  const caller = await createCaller(sql)
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await finish(sql, id)
  const events = [...(await readStream(sql, id)), ...(await readStream(sql, caller.apiKeyId))]
  const types = events.map(({ type }) => type)
  t.strictSame(types, [
    'submission.received',
    'execution.started',
    'execution.completed',
    'api_key.issued',
  ])
  for (const { type, data } of events)
    t.strictSame(Object.keys(data).toSorted(), latest(type), type)
})

t.test('a version or a type of the future is shown as it is, and stops nobody', async (t) => {
  const caller = await createCaller(sql)
  const id = await submitNew(sql, caller, describeSubmission({ code: '' }))
  const version = await startExecution(sql, id)
  await sql`select runledger.append_event(${id}, ${(version ?? 0) + 1}, 'execution.suspended', 1, '{"until": "later"}', '{}')`
  await sql`select runledger.append_event(${id}, ${(version ?? 0) + 2}, 'execution.started', 99, '[1]', '"odd"')`
  const events = await readStream(sql, id)
  t.match(events.slice(2), [
    { type: 'execution.suspended', schemaVersion: 1, data: { until: 'later' } },
    { type: 'execution.started', schemaVersion: 99, data: {}, metadata: {} },
  ])
  const told = events.map((event) => describeEvent(event, untold))
  t.match(told, [
    /^Received: /,
    /^Attempt 1 started /,
    'execution.suspended, version 1, which this release does not know: {"until":"later"}',
    'execution.started, version 99, which this release does not know: {"0":1}',
  ])
  await sql`select runledger.refresh_submissions(array[${id}]::uuid[])`
  t.match(await readResult(sql, id), { id, status: 'running', verdict: null })
  t.strictSame([...(await sql`select * from audit.drift where id = ${id}`)], [])
})

t.test('no event of any shape keeps its story from being told', async (t) => {
  const shapes = [
    {},
    { run: null, stdout: 7, webhook: 'x', limits: [], isolation: 'none' },
    { reason: {}, attempt: [] },
  ]
  for (const type of [...Object.keys(sentences), '__proto__', 'constructor', 'toString']) {
    for (const data of shapes) {
      const event = {
        position: 1,
        version: 1,
        schemaVersion,
        at: new Date(),
        hash: '',
        metadata: {},
        type,
        data,
      }
      t.type(describeEvent(event, untold), 'string', type)
    }
  }
})
