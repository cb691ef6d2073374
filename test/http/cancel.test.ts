// POST /api/result/{id}/cancel through the whole service: web process, worker, sandbox.
import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRandom } from '../faults/random.ts'
import { findBroken, listTypes } from '../helper/ledger.ts'
import { seed } from '../helper/seed.ts'
import { startFreshServer, untilAvailable } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { until } from '../helper/until.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import type { WorkerProcess } from '../helper/worker.ts'

const random = createRandom(seed)

const { call, issue, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })

/** A C++ program whose compiler exceeds its limits, but takes long to do so. */
const endless =
  'template <int N, int M> struct F { static const int v = F<N - 1, 2 * M>::v & F<N - 1, 2 * M + 1>::v; };\ntemplate <int M> struct F<0, M> { static const int v = M; };\nint main() { return F<28, 1>::v; }'

/** A program that prints, takes the mark as its process name, by which isAlive finds it on the host, and sleeps. */
const sleeper = (mark: string): string =>
  `import ctypes, time\nprint("before", flush=True)\nctypes.CDLL(None).prctl(15, b"${mark}", 0, 0, 0)\ntime.sleep(300)\nprint("after")`

function isAlive(mark: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      const name = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : ''
      return name === mark && !/^State:\t[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    } catch {
      return false
    }
  })
}

const submit = async (body: object, key?: string): Promise<string> =>
  (
    await untilAvailable(() =>
      call('POST', '/api/submit', { body, ...(key !== undefined && { key }) }),
    )
  ).body.id
const cancel = (id: string, more: object = {}): Promise<Answer> =>
  untilAvailable(() => call('POST', `/api/result/${id}/cancel`, more))
/** Repeats a GET while it is answered 408 or 503, because the service abandons requests on a busy machine. */
const read = async (path: string): Promise<Answer> => {
  for (;;) {
    const answer = await call('GET', path)
    if (![408, 503].includes(answer.status)) return answer
  }
}
const final = (id: string): Promise<Answer> => read(`/api/result/${id}?wait=true`)

t.test('what waits is answered as cancelled, now and later, and listed so', async (t) => {
  const key = await issue()
  const id = await submit({ language: 'python', code: '' }, key)
  for (const _ of ['first', 'again']) {
    const { status, body } = await cancel(id, { key })
    t.equal(status, 200)
    t.match(body, { id, status: 'cancelled', verdict: null, stdout: '', finished_at: String })
    t.equal(body.cancel_requested_at, null, 'it ended at once')
  }
  t.match((await call('GET', '/api/submissions?status=cancelled', { key })).body.submissions, [
    { id },
  ])
  const { body } = await call('GET', `/api/result/${id}/events`, { key })
  t.match(body.events, [{ type: 'submission.received' }, { type: 'submission.cancelled' }])
  t.equal(body.events.length, 2)
})

t.test('whoever waits for it is answered', async (t) => {
  const key = await issue()
  const waiting = call('POST', '/api/submit?wait=true', { body: { language: 'python', code: '' }, key }) // prettier-ignore
  let id = ''
  await until(async () => {
    const { body } = await call('GET', '/api/submissions', { key })
    id = body.submissions[0]?.id ?? ''
    return id !== ''
  })
  await cancel(id, { key })
  t.match(await waiting, { status: 200, body: { id, status: 'cancelled', verdict: null } })
})

t.test('a replay of its idempotency key is answered with it', async (t) => {
  const headers = { 'Idempotency-Key': randomUUID() }
  const body = { language: 'python', code: '' }
  const first = await call('POST', '/api/submit', { body, headers })
  await cancel(first.body.id)
  const answer = (await call('POST', '/api/submit?wait=true', { body, headers })).body
  t.match(answer, { id: first.body.id, status: 'cancelled' })
})

t.test('what is not the caller’s, or nothing, is 404; what is not asked for is 400', async (t) => {
  const id = await submit({ language: 'python', code: '' })
  t.equal((await cancel(id, { key: await issue() })).status, 404)
  t.equal((await cancel(randomUUID())).status, 404)
  t.equal((await cancel('nothing')).status, 404)
  const { status, body } = await call('POST', `/api/result/${id}/cancel?now=true`)
  t.equal(status, 400)
  t.match(body.issues, [{ path: '?now' }])
  t.equal((await call('GET', `/api/result/${id}/cancel`, { checked: false })).status, 405)
  t.match((await call('GET', `/api/result/${id}`)).body, { status: 'queued' })
  t.equal((await cancel(id, { body: { any: 'body' } })).status, 200)
})

t.test('with a worker', async (t) => {
  const worker = await startWorkerProcess(t, url, { LEASE_SECONDS: '60' })

  t.test('what runs is killed, and what it had written is kept', async (t) => {
    const mark = `m${randomUUID().slice(0, 12)}`
    const id = await submit({ language: 'python', code: sleeper(mark) })
    await until(() => isAlive(mark))
    const { body: told } = await cancel(id)
    t.match(told, { id, verdict: null, cancel_requested_at: /^\d{4}-.*Z$/ })
    t.equal((await cancel(id)).body.cancel_requested_at, told.cancel_requested_at)
    const { body } = await final(id)
    t.equal(body.cancel_requested_at, told.cancel_requested_at, 'it stays in the final record')
    t.match(body, {
      status: 'cancelled',
      verdict: null,
      exit_code: 137,
      signal: 'SIGKILL',
      stdout: 'before\n',
      stderr: '',
      runtime: /^Python 3/,
    })
    t.ok(body.wall_time > 0)
    t.equal(isAlive(mark), false)
    t.strictSame(await listTypes(sql, id), [
      'submission.received',
      'execution.started',
      'submission.cancel_requested',
      'submission.cancelled',
    ])
    t.match(await cancel(id), { status: 200, body })
  })

  t.test('what compiles is killed: it never ran', async (t) => {
    const id = await submit({ language: 'cpp', code: endless })
    await until(async () => (await call('GET', `/api/result/${id}`)).body.status === 'running')
    await sleep(300)
    await cancel(id)
    const told = (await final(id)).body
    t.match(told, { status: 'cancelled', verdict: null, exit_code: null, cpu_time: 0, stdout: '' })
  })

  t.test('raced with its completion, it ends once', async (t) => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const id = await submit({ language: 'python', code: `print(${index})` })
        await until(async () => (await call('GET', `/api/result/${id}`)).body.status !== 'queued')
        await sleep(random.number() * 20)
        await cancel(id)
        return id
      }),
    )
    for (const [index, id] of ids.entries()) {
      const { body } = await final(id)
      if (body.status === 'completed') t.match(body, { verdict: 'AC', stdout: `${index}\n` })
      else t.match(body, { status: 'cancelled', verdict: null })
      const ends = (await listTypes(sql, id)).filter((type) =>
        ['execution.completed', 'submission.cancelled'].includes(type),
      )
      t.equal(ends.length, 1)
    }
  })

  t.test('the worker goes on', async (t) => {
    const { body } = await final(await submit({ language: 'python', code: 'print(1)' }))
    t.match(body, { verdict: 'AC' })
    worker.child.kill('SIGTERM')
    t.strictSame(await worker.ended, [0, null])
  })
})

const startWorker = (): Promise<WorkerProcess> =>
  startWorkerProcess(t, url, { LEASE_SECONDS: '15' })
let worker: WorkerProcess

t.test('a word that is lost is made up for when the lease is renewed', async (t) => {
  worker = await startWorker()
  const id = await submit({ language: 'python', code: sleeper('unheard') })
  await until(() => isAlive('unheard'))
  // Cancels as cancelSubmission does, but does not notify the worker.
  await sql`
    select from runledger.submission r, runledger.cancel(array[r.id], r.account_id, '{"actor": {}}') where r.id = ${id}`
  t.match((await final(id)).body, { status: 'cancelled', stdout: 'before\n' })
})

t.test('a worker that is killed before it could end it leaves it to the others', async (t) => {
  const id = await submit({ language: 'python', code: sleeper('orphan') })
  await until(() => isAlive('orphan'))
  worker.child.kill('SIGSTOP')
  await cancel(id)
  worker.child.kill('SIGKILL')
  await worker.ended
  await startWorker()
  t.match((await final(id)).body, { status: 'cancelled', verdict: null, stdout: '' })
  t.strictSame(await listTypes(sql, id), [
    'submission.received',
    'execution.started',
    'submission.cancel_requested',
    'submission.cancelled',
  ])
})

t.test('the log and what is made from it agree', async (t) => {
  t.strictSame(await findBroken(sql), [])
  t.strictSame([...(await sql`select * from audit.altered_body`)], [])
})
