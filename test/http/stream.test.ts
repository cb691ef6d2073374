// GET /api/result/{id}/stream and POST /api/submit with Accept: text/event-stream, through the whole service: web process,
// worker, sandbox.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { purgeBodies } from '#result'
import { startFreshServer } from '../helper/server.ts'
import { findFlaws, joinOutput, openStream } from '../helper/stream.ts'
import type { OpenStream, StreamCall, StreamEvent } from '../helper/stream.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { call, issue, port, sql, url } = await startFreshServer(t, { syncWaitSeconds: 120 })
const key = await issue()

/** Opens a stream. Repeats after a 503, which a busy machine may cause, as clients do. */
const open = async (path: string, more: Partial<StreamCall> = {}): Promise<OpenStream> => {
  const stream = await openStream({ port, key, path, ...more })
  if (stream.status !== 503) return stream
  await stream.ended
  return open(path, more)
}
const streamOf = (id: string, more: Partial<StreamCall> = {}): Promise<OpenStream> =>
  open(`/api/result/${id}/stream`, more)
const submit = async (body: object): Promise<string> =>
  (await call('POST', '/api/submit', { body, key })).body.id
const namesOf = (events: readonly StreamEvent[]): string[] =>
  events.map(({ event, data }) => (event === 'status' ? `status ${data.status}` : event))

t.test('what waits is told to wait, and its end when it is cancelled', async (t) => {
  const id = await submit({ language: 'python', code: '' })
  const stream = await streamOf(id)
  t.equal(stream.status, 200)
  t.match(stream.headers, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
  })
  await stream.until(({ event }) => event === 'status')
  t.match((await call('GET', '/metrics', { checked: false })).text, /^runledger_streams_open 1$/m)
  await call('POST', `/api/result/${id}/cancel`, { key })
  const events = await stream.ended
  t.strictSame(namesOf(events), ['submitted', 'status queued', 'result'])
  t.strictSame(events[0]?.data, { id })
  const { body } = await call('GET', `/api/result/${id}`, { key })
  t.strictSame(events.at(-1)?.data, body)
  const metrics = (await call('GET', '/metrics', { checked: false })).text
  t.match(metrics, /^runledger_streams_open 0$/m)
  t.notMatch(metrics, /duration_seconds_count\{route="\/api\/result\/:id\/stream"/)
})

t.test('what is not the caller’s, or nothing, is 404; without a key it is 401', async (t) => {
  const id = await submit({ language: 'python', code: '' })
  t.equal((await streamOf(id, { key: await issue() })).status, 404)
  t.equal((await streamOf(randomUUID())).status, 404)
  t.equal((await streamOf('nothing')).status, 404)
  t.equal((await streamOf(id, { key: 'rl_live_x' })).status, 401)
  t.equal((await open(`/api/result/${id}/stream?from=1`)).status, 400)
  t.equal((await call('HEAD', `/api/result/${id}/stream`, { key })).status, 200)
})

t.test('what is submitted wrongly is an answer like any other', async (t) => {
  for (const [path, body] of [
    ['/api/submit', { language: 'nothing', code: '' }],
    ['/api/submit?wait=true', { language: 'python', code: '' }],
  ] as const) {
    const { status, headers, ended, text } = await open(path, { body })
    await ended
    t.equal(status, 400)
    t.match(headers, { 'content-type': /^application\/json/ })
    t.match(JSON.parse(text()), { error: 'invalid_request' })
  }
})

t.test('with a worker', async (t) => {
  const worker = await startWorkerProcess(t, url)

  t.test('output is told while the program runs, to those who came before and after', async (t) => {
    const code = 'import sys, time\nprint("é1", flush=True)\nprint("2", file=sys.stderr, flush=True)\ntime.sleep(300)' // prettier-ignore
    const limits = { wall_time: 300 }
    const early = await open('/api/submit', { body: { language: 'python', code, limits } })
    t.equal(early.status, 200)
    const submitted = await early.until(({ event }) => event === 'submitted')
    const { id } = submitted.data
    t.equal(early.headers.location, `/api/result/${id}`)
    const answer = (await early.until(({ event }) => event === 'stdout')).data
    t.strictSame(answer, { offset: 0, text: 'é1\n' })
    const told = (await early.until(({ event }) => event === 'stderr')).data
    t.strictSame(told, { offset: 0, text: '2\n' })
    const late = await streamOf(id)
    await late.until(({ event }) => event === 'stderr')
    await call('POST', `/api/result/${id}/cancel`, { key })
    for (const stream of [early, late]) {
      const events = await stream.ended
      t.strictSame(findFlaws(events), [])
      t.strictSame(namesOf(events).toSorted(), [
        'result', 'status queued', 'status running', 'stderr', 'stdout', 'submitted',
      ]) // prettier-ignore
      t.match(events.at(-1)?.data, { status: 'cancelled', stdout: 'é1\n' })
    }
  })

  t.test('of what nobody asked for in time, everything is told when somebody does', async (t) => {
    const code = 'import time\nprint("before", flush=True)\ntime.sleep(300)'
    const id = await submit({ language: 'python', code, limits: { wall_time: 300 } })
    let status = ''
    while (status !== 'running')
      status = (await call('GET', `/api/result/${id}`, { key })).body.status
    const stream = await streamOf(id)
    t.match((await stream.until(({ event }) => event === 'stdout')).data, { text: 'before\n' })

    // A row that was edited by hand says nothing about its attempts, but its stream must still start.
    await sql`update runledger.pending set attempts = 7 where submission_id = ${id}`
    await (await streamOf(id)).until(({ event }) => event === 'status')
    await sql`select runledger.refresh_submissions(array[${id}]::uuid[])`
    await call('POST', `/api/result/${id}/cancel`, { key })
    t.strictSame(findFlaws(await stream.ended), [])
  })

  t.test('every position is one to go on from, while it runs and after the end', async (t) => {
    // Four seconds, so that a worker that stops for one of them still tells it in pieces.
    const code = 'import sys, time\nfor n in range(20):\n print("zeile", n, "ü€😀", flush=True); print(n, file=sys.stderr, flush=True); time.sleep(0.2)' // prettier-ignore
    const stream = await open('/api/submit', { body: { language: 'python', code } })
    const resumed: Promise<OpenStream>[] = []
    let id = ''
    const events: StreamEvent[] = []
    await stream.until(({ event }) => event === 'submitted')
    id = stream.events[0]?.data.id
    const onEvent = (event: StreamEvent): void => {
      events.push(event)
      if (event.event !== 'result') resumed.push(streamOf(id, { lastEventId: event.id }))
    }
    await (
      await streamOf(id, { onEvent })
    ).ended
    t.strictSame(findFlaws(events), [])
    t.ok(events.filter(({ event }) => event === 'stdout').length > 1, 'in pieces')
    for (const [index, one] of resumed.entries()) {
      const rest = await (await one).ended
      const whole = [...events.slice(0, index + 1), ...rest]
      t.strictSame(findFlaws(whole), [], `gone on after ${events[index]?.event}`)
      const after = await (await streamOf(id, { lastEventId: events[index]?.id ?? '' })).ended
      t.strictSame(findFlaws([...events.slice(0, index + 1), ...after]), [])
    }
    const over = await streamOf(id, { lastEventId: events.at(-1)?.id ?? '' })
    t.equal(over.status, 204)
  })

  t.test('what the compiler says comes before the program’s output', async (t) => {
    const code = '#include <cstdio>\n#warning careful\nint main() { puts("x"); fflush(stdout); }'
    const stream = await open('/api/submit', { body: { language: 'cpp', code } })
    const events = await stream.ended
    t.strictSame(namesOf(events), ['submitted', 'status queued', 'status running', 'compile', 'stdout', 'result']) // prettier-ignore
    t.match(events[3]?.data.output, /careful/)
    const broken = await open('/api/submit', { body: { language: 'cpp', code: 'x' } })
    const told = await broken.ended
    t.strictSame(namesOf(told).slice(-2), ['compile', 'result'])
    t.equal(told.at(-2)?.data.output, told.at(-1)?.data.compile_output)
  })

  t.test('tests are told as they end, without their outputs', async (t) => {
    const code = 'import time\nn = int(input())\ntime.sleep(n)\nprint(n)'
    const limits = { wall_time: 60 }
    const endless = [{ stdin: '0' }, { stdin: '60' }]
    const early = await open('/api/submit', { body: { language: 'python', code, limits, tests: endless } }) // prettier-ignore
    await early.until(({ event, data }) => event === 'test' && data.index === 0)
    t.equal(early.events.at(-1)?.data.index, 0, 'the first before the second has ended')
    await call('POST', `/api/result/${early.events[0]?.data.id}/cancel`, { key })
    await early.ended

    const tests = ['0', '1', '0'].map((stdin, index) => ({
      stdin,
      expected_stdout: index === 2 ? 'x' : stdin,
    }))
    const stream = await open('/api/submit', { body: { language: 'python', code, tests } })
    const events = await stream.ended
    t.strictSame(findFlaws(events), [])
    const told = events.filter(({ event }) => event === 'test')
    const datas = told.map(({ data }) => data)
    t.match(datas, [
      { index: 0, verdict: 'AC' },
      { index: 1, verdict: 'AC' },
      { index: 2, verdict: 'WA', difference: { line: 1 } },
    ])
    t.notOk(namesOf(events).some((name) => name === 'stdout' || name === 'stderr'))
    for (const { data } of told) t.notOk('stdout' in data)
    const again = await (await streamOf(events[0]?.data.id)).ended
    t.strictSame(namesOf(again), namesOf(events))
    t.strictSame(
      again.filter(({ event }) => event === 'test').map(({ data }) => data),
      told.map(({ data }) => data),
    )
  })

  t.test('bytes that are no text are exact as base64, else as in the record', async (t) => {
    const code =
      'import os, time\nfor n in range(40): os.write(1, bytes([n * 6, 0xe2, 0x82])); time.sleep(0.01)'
    for (const output_encoding of ['base64', 'utf8']) {
      const stream = await open('/api/submit', {
        body: { language: 'python', code, output_encoding },
      })
      const events = await stream.ended
      const isExact = output_encoding === 'base64'
      const told = events.filter(({ event }) => event === 'stdout').map(({ data }) => data)
      const joined = isExact
        ? joinOutput(events, 'stdout').toString('base64')
        : told.map(({ text }) => text).join('')
      t.equal(joined, events.at(-1)?.data.stdout)
      t.ok(told.every((data) => isExact === 'base64' in data))
    }
  })

  t.test('characters that were written or kept in parts are told while it runs', async (t) => {
    const code = [
      'import os, time',
      'for byte in "é€😀\\n".encode(): os.write(1, bytes([byte])); time.sleep(0.06)',
      'os.write(1, ("€" * 60000).encode())',
      'time.sleep(300)',
    ].join('\n')
    const limits = { wall_time: 300 }
    const stream = await open('/api/submit', { body: { language: 'python', code, limits } })
    const { id } = (await stream.until(({ event }) => event === 'submitted')).data
    await stream.until(
      ({ event, data }) =>
        event === 'stdout' && data.offset + Buffer.byteLength(data.text) === 10 + 180_000,
    )
    await call('POST', `/api/result/${id}/cancel`, { key })
    const events = await stream.ended
    t.strictSame(findFlaws(events), [])
    t.equal(joinOutput(events, 'stdout').length, 10 + 180_000)
  })

  t.test('a flood is told in part, and in the end whole', async (t) => {
    const code = 'import os\nline = b"0123456789abcde\\n" * 64\nwhile True: os.write(1, line)'
    const stream = await open('/api/submit', { body: { language: 'python', code } })
    const events = await stream.ended
    t.strictSame(findFlaws(events), [])
    t.match(events.at(-1)?.data, { verdict: 'OLE', stdout_truncated: true })
    t.equal(joinOutput(events, 'stdout').length, 1024 * 1024)
  })

  t.test('nothing of it is kept after the end', async (t) => {
    let rows = -1
    while (rows !== 0) {
      const [row] = await sql`select count(*)::int as count from runledger.live_output`
      rows = row?.['count'] as number
    }
    t.equal(rows, 0)
    worker.child.kill('SIGTERM')
    t.strictSame(await worker.ended, [0, null])
  })
})

t.test('a position that is none of ours is the beginning, whatever it is', async (t) => {
  const [row] = await sql`select id from runledger.submission where status = 'completed' limit 1`
  const id = row?.['id'] as string
  const whole = namesOf(await (await streamOf(id)).ended)
  for (const lastEventId of ['x', '0', 'r.x.1.1.1.1', '9'.repeat(5000), 'e', 'r..1.1', '%00']) {
    t.strictSame(namesOf(await (await streamOf(id, { lastEventId })).ended), whole, lastEventId)
  }
  const events = await (await streamOf(id)).ended
  const run = events.find(({ data }) => data.status === 'running')?.id.split('.')[0]
  for (const lastEventId of [
    `${run}.999999999.999999999999.999999999999`,
    `queued.${run}`,
    `${randomUUID()}.7.5.5`,
    '1.1.7.7',
  ]) {
    const names = namesOf(await (await streamOf(id, { lastEventId })).ended)
    t.equal(names.at(-1), 'result', lastEventId)
  }
})

t.test('whatever its row says, the outputs of what has ended are told', async (t) => {
  const [row] = await sql`
    update runledger.result set version = 0
    where id = (
      select r.id from runledger.submission r join runledger.output o on o.submission_id = r.id
      where r.status = 'completed' and length(o.stdout) between 1 and 1000
      limit 1
    )
    returning id`
  const id = row?.['id'] as string
  const events = await (await streamOf(id)).ended
  await sql`select runledger.refresh_submissions(array[${id}]::uuid[])`
  t.strictSame(findFlaws(events), [])
  t.ok(joinOutput(events, 'stdout').length > 0)
})

t.test('what was purged is its record', async (t) => {
  const [row] = await sql`select id from runledger.submission where status = 'completed' limit 1`
  t.ok((await purgeBodies(sql, 0)).submissions > 0)
  const events = await (await streamOf(row?.['id'] as string)).ended
  t.strictSame(namesOf(events), ['submitted', 'status queued', 'status running', 'result'])
  t.match(events.at(-1)?.data, { status: 'completed', stdout: null, purged_at: String })
})
