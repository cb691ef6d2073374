// While a release goes out, processes of the one before work on the new schema, beside new ones. Here they do: real web and
// worker processes of an earlier revision, on a database that this code has migrated.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Caller } from '#account'
import { createDatabase, json } from '#database'
import type { Database } from '#database'
import { findPort } from '#embedded-postgres'
import { cancelSubmission, rerunSubmission } from '#enqueue'
import { createId } from '#id'
import { migrate, MigrationError } from '#migration'
import { readResult } from '#result'
import { describeReceived } from '../../src/job/submission.ts'
import { createTestDatabase, withDatabase } from '../helper/database.ts'
import { submitTomorrow, tomorrow } from '../helper/demand.ts'
import { completeExecution, startExecution } from '../helper/execution.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { listLosses, unpackPreviousRelease } from '../helper/release.ts'
import type { Release } from '../helper/release.ts'
import { snapshotPath } from '../helper/schema.ts'
import { createCaller, describeSubmission, finalResult, submitNew } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
t.setTimeout(240_000)
const release = unpackPreviousRelease(t)
const present = readFileSync(snapshotPath, 'utf8')
const losses = release === null ? [] : listLosses(release.schema, present, release.calls)

/** Submits with what every release's function takes: this code's own call is for this code's schema. */
async function submitAsBefore(previous: Database, caller: Caller): Promise<string> {
  const id = createId()
  const request = {
    submission_id: id,
    api_key_id: caller.apiKeyId,
    schema_version: 1,
    data: describeReceived(describeSubmission({ code: 'print(1)' }), caller).data,
    metadata: { actor: {} },
    capacity: 10,
  }
  await previous`select runledger.receive_submission(${json(previous, request)}, 'print(1)', '', null)`
  return id
}

/** Why the processes of the release before need not work; false when they must. */
function findExcuse({ isPublished }: Release): string | false {
  if (isPublished || losses.length === 0) return false
  return `before the first release nothing old is kept: ${losses.join(', ')}`
}

t.test('what a schema has lost is seen', async (t) => {
  const calls = new Set([
    'runledger.renew_worker',
    'runledger.stop_worker',
    'runledger.start_execution',
  ])
  t.strictSame(listLosses(present, present, calls), [])
  const change = (from: string | RegExp, to: string): string[] => {
    const changed = present.replace(from, to)
    t.not(changed, present)
    return listLosses(present, changed, calls)
  }
  const renewal = /(function runledger\.renew_worker\()(.*)\)$/m
  t.strictSame(change(renewal, '$1$2, more integer DEFAULT 7)'), [])
  t.strictSame(change(renewal, '$1$2, more integer)'), ['runledger.renew_worker takes other arguments']) // prettier-ignore
  t.strictSame(change(renewal, '$1more integer, $2)'), ['runledger.renew_worker takes other arguments']) // prettier-ignore
  t.strictSame(change('function runledger.stop_worker(', 'function runledger.halt_worker('), ['runledger.stop_worker is gone']) // prettier-ignore
  t.strictSame(change('function runledger.read_load(', 'function runledger.read_burden('), [], 'what nobody calls') // prettier-ignore
  const both = present.replace(/^function runledger\.stop_worker\([^]*?\n\n/m, (form) => `${form}${form.replace('worker_id uuid', 'name text')}`) // prettier-ignore
  t.not(both, present)
  t.strictSame(listLosses(both, present, calls), [], 'one of two forms, for processes before')
  t.strictSame(change('TABLE(version integer, attempt integer, ', 'TABLE(version integer, '), ['runledger.start_execution returns something else']) // prettier-ignore
  t.strictSame(change('TABLE(version integer, ', 'TABLE(run uuid, version integer, '), [])
  // A connection that has prepared a statement on it fails, and the driver's second try would store what it sends twice encoded.
  t.strictSame(change(/(stop_worker\(.*\n(?:.*\n)?  returns )void/, '$1boolean'), ['runledger.stop_worker returns something else']) // prettier-ignore
})

if (release === null) {
  t.pass('skipped, no history: git or the commits before are missing')
} else {
  t.comment(`the release before: ${release.revision}`)
  const skip = findExcuse(release)

  t.test('nothing that it calls is gone', { skip }, async (t) => t.strictSame(losses, []))

  t.test('its database is brought up to this code', { skip }, async (t) => {
    const name = `previous_${process.pid}`
    await sql`create database ${sql(name)}`
    const previousUrl = withDatabase(url, name)
    const previous = createDatabase({ url: previousUrl, connections: 2, name: 'test', statementSeconds: 60 }) // prettier-ignore
    t.teardown(async () => {
      await previous.end()
      await sql`drop database ${sql(name)} with (force)`
    })
    await migrate(previous, previousUrl, `${release.directory}/sql`)
    const caller = await createCaller(previous)
    const id = await submitAsBefore(previous, caller)
    try {
      await migrate(previous, previousUrl)
    } catch (error) {
      // Until the first release migrations may be edited, and then there is no way from one to the other.
      if (release.isPublished || !(error instanceof MigrationError)) throw error
      t.comment(error.message)
      return
    }
    await startWorkerProcess(t, previousUrl)
    t.match(await finalResult(previous, id), { verdict: 'AC' })
  })

  t.test('its web and worker work on this schema', { skip }, async (t) => {
    const worker = await startWorkerProcess(t, url, {}, release.directory)
    const post = await startWeb(release.directory)
    const answer = await post('/api/submit?wait=true', { language: 'python', code: 'print(input())', stdin: 'old', expected_stdout: 'old' }) // prettier-ignore
    t.match(answer, { status: 200, body: { verdict: 'AC', stdout: 'old\n' } })
    const batch = await post('/api/submit/batch', { submissions: [{ language: 'cpp', code: 'int main() {}' }] }) // prettier-ignore
    t.match(batch, { status: 202 })
    const [item] = batch.body['submissions'] as { id: string }[]
    t.match(await finalResult(sql, item?.id ?? ''), { verdict: 'AC' })
    t.equal(worker.child.exitCode, null)
  })

  t.test('its web takes no operator’s key', { skip }, async (t) => {
    const { key } = await issueOperatorKey(sql)
    const post = await startWeb(release.directory, key)
    // 401: it knows of no operators; 403: it does.
    const refusals: readonly unknown[] = [401, 403]
    for (const path of ['/api/submit', '/api/submit?wait=true'])
      t.ok(refusals.includes((await post(path, { language: 'python', code: '' })).status), path)
    t.ok(refusals.includes((await post('/api/submit/batch', { submissions: [] })).status))
  })

  t.test('its worker leaves what it cannot do to one that can', { skip }, async (t) => {
    await startWorkerProcess(t, url, {}, release.directory)
    const caller = await createCaller(sql)
    const demanding = await submitTomorrow(sql, caller, { code: 'print(1)' })
    // Each of its two slots has looked at the first job by then.
    for (let n = 0; n < 3; n += 1) {
      const id = await submitNew(sql, caller, describeSubmission({ code: 'print(2)' }))
      t.match(await finalResult(sql, id), { verdict: 'AC', stdout: '2\n' })
    }
    t.equal((await readResult(sql, demanding, null))?.status, 'queued')
    t.equal(await startExecution(sql, demanding, { does: [tomorrow] }), 2)
    await completeExecution(sql, demanding, 2)
  })

  t.test('its worker runs what this code runs again', { skip }, async (t) => {
    await startWorkerProcess(t, url, {}, release.directory)
    const caller = await createCaller(sql)
    const first = await submitNew(sql, caller, describeSubmission({ code: 'print(input())', stdin: 'again' })) // prettier-ignore
    t.match(await finalResult(sql, first), { verdict: 'AC', stdout: 'again\n', rerun_of: null })
    const id = createId()
    const context = { apiKeyId: caller.apiKeyId, requestId: id, idempotencyKey: null, capacity: 10 }
    await rerunSubmission(sql, first, id, context, new AbortController().signal)
    t.match(await finalResult(sql, id), { verdict: 'AC', stdout: 'again\n', rerun_of: first })
  })

  t.test('what its worker runs can be cancelled, heard or not', { skip }, async (t) => {
    await startWorkerProcess(t, url, {}, release.directory)
    const caller = await createCaller(sql)
    const code = 'import time; print("so far", flush=True); time.sleep(10)'
    const id = await submitNew(sql, caller, describeSubmission({ code }))
    while ((await readResult(sql, id, null))?.status !== 'running') await sleep(20)
    // That is said before its first instruction.
    await sleep(3000)
    const actor = { api_key: caller.apiKeyId }
    t.equal(await cancelSubmission(sql, id, caller.accountId, { actor }), 'requested')
    t.match(await finalResult(sql, id), { status: 'cancelled', verdict: null, stdout: 'so far\n' })
  })

  t.test('beside processes of this code, none loses or doubles anything', { skip }, async (t) => {
    const doomed = await startWorkerProcess(t, url, { LEASE_SECONDS: '3' }, release.directory)
    await startWorkerProcess(t, url, { LEASE_SECONDS: '3' })
    const posts = [await startWeb(release.directory), await startWeb()]
    const slow = { language: 'python', code: 'import time; time.sleep(1); print(1)' }
    const answers = Array.from({ length: 12 }, async (_, index) => posts[index % 2]!('/api/submit?wait=true', slow)) // prettier-ignore
    await sleep(1500)
    doomed.child.kill('SIGKILL')
    for (const answer of await Promise.all(answers))
      t.match(answer, { status: 200, body: { verdict: 'AC', stdout: '1\n' } })
  })

  t.test('the ledger keeps every promise through all of it', { skip }, async (t) => {
    for (const view of ['drift', 'broken_chain', 'invariant', 'altered_body'])
      t.strictSame([...(await sql`select * from audit.${sql(view)}`)], [], view)
  })
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** A web process of the code in a directory; it ends with the test file. */
async function startWeb(
  directory?: string,
  given?: string,
): Promise<(path: string, body: object) => Promise<Answer>> {
  const port = await findPort(0)
  const key = given ?? (await createCaller(sql)).key
  const child = spawn('node', ['src/server.ts'], {
    cwd: directory ?? `${import.meta.dirname}/../..`,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], DATABASE_URL: url, PORT: String(port) },
  })
  t.teardown(() => child.kill('SIGKILL'))
  await new Promise((done) => child.stdout.once('data', done))
  child.stdout.resume()
  return (path, body) =>
    new Promise((done, fail) => {
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
      request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          done({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] })
        })
      })
        .once('error', fail)
        .end(JSON.stringify(body))
    })
}
