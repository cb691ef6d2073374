// The load generator against a real server; the test itself completes the submissions.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { exitStatuses } from '../../src/cli/command.ts'
import { measureService } from '../../bench/load/report.ts'
import type { LoadCall } from '../../bench/load/report.ts'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { makeDirectory } from '../helper/directory.ts'
import { finish, listPending } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'

const server = await startFreshServer(t, { syncWaitSeconds: 1 })
const { sql } = server
const serviceUrl = `http://127.0.0.1:${server.port}`
const apiKey = await server.issue()
const directory = makeDirectory(t)

async function command(
  call: Partial<LoadCall>,
  isTTY = false,
): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const { signal } = new AbortController()
  const asked = { url: serviceUrl, apiKey, clients: '4', seconds: '1', json: false, signal }
  const status = await measureService(
    { ...asked, ...call },
    {
      stdout: { isTTY, write: (text) => (out += text) },
      stderr: { isTTY, write: (text) => (err += text) },
    },
  )
  return { status, out, err }
}

/** Completes all waiting submissions until it is stopped, starting after so many milliseconds. */
function endEverything(verdict = 'AC', afterMilliseconds = 0): { stop(): Promise<void> } {
  let stopping = false
  const ended = (async () => {
    await sleep(afterMilliseconds)
    while (!stopping) {
      for (const id of await listPending(sql)) {
        await finish(sql, id, { verdict })
      }
      await sleep(5)
    }
  })()
  return {
    stop() {
      stopping = true
      return ended
    },
  }
}

async function countCompleted(): Promise<number> {
  const [row] =
    await sql`select count(*)::int as n from runledger.submission where status = 'completed'`
  return row?.['n'] as number
}

t.test('a closed loop sends, waits and counts; a script gets one JSON object', async (t) => {
  const program = join(directory, 'program.cc')
  writeFileSync(program, 'int main() {}')
  const ending = endEverything('WA')
  const { status, out, err } = await command({ file: program })
  await ending.stop()
  t.equal(err, '')
  t.equal(status, 0, 'a wrong answer is an answer')
  const report = JSON.parse(out)
  t.match(report, { language: 'cpp', clients: 4, seconds: 1, rate: null, errors: {} })
  t.match(report, { unfinished: 0, not_sent: 0 })
  t.ok(report.completed >= 4)
  t.equal(report.sent, report.completed)
  t.strictSame(report.verdicts, { WA: report.completed })
  t.ok(report.latency_ms.p50 > 0)
  t.ok(report.latency_ms.p50 <= report.latency_ms.p99)
  t.ok(report.latency_ms.p99 <= report.latency_ms.max)
  const [row] =
    await sql`select count(*)::int as n from runledger.submission where language = 'cpp'`
  t.equal(row?.['n'], report.sent)
})

t.test('at a rate, latency counts from the instant a submission was due', async (t) => {
  // The only client is blocked for the first second, so the submissions due in it are late although they were answered at
  // once.
  const ending = endEverything('AC', 1000)
  const { out } = await command({ clients: '1', seconds: '3', rate: '10' })
  await ending.stop()
  const { latency_ms: latency, sent, not_sent: notSent } = JSON.parse(out)
  t.ok(latency.p90 > 500, `p90 is ${latency.p90} ms`)
  t.equal(sent + notSent, 30)
})

t.test('what was due and found no client is counted, and is no success', async (t) => {
  const ending = endEverything('AC', 1500)
  const { status, out } = await command({ clients: '2', seconds: '1', rate: '20' })
  await ending.stop()
  const { sent, completed, not_sent: notSent } = JSON.parse(out)
  t.equal(completed, sent)
  // On a slow machine the second ends late.
  t.ok(sent + notSent >= 20)
  t.ok(notSent >= 18)
  t.equal(status, 1)
})

t.test('a submission that outlives the held request is waited for', async (t) => {
  const ending = endEverything('AC', 2500)
  const { status, out } = await command({ clients: '1', seconds: '0.5' })
  await ending.stop()
  t.equal(status, 0)
  const report = JSON.parse(out)
  t.match(report, { sent: 1, completed: 1, errors: {} })
  t.ok(report.latency_ms.max >= 2000)
})

t.test('a full rate window is counted by its code and not hammered', async (t) => {
  const beta = await server.issue('beta')
  await sql`
    insert into runledger.rate_window (api_key_id, admitted_at, requests)
    select id, array[now()], '{60}' from runledger.api_key where tier = 'beta'
    on conflict (api_key_id) do update set admitted_at = excluded.admitted_at, requests = excluded.requests`
  const { status, out } = await command({ apiKey: beta })
  const report = JSON.parse(out)
  t.strictSame(Object.keys(report.errors), ['rate_limited'])
  t.ok(report.sent <= 4, 'each client waits as long as it was told')
  t.equal(status, exitStatuses.unavailable)
})

t.test('an answer that all would get ends it at once', async (t) => {
  const rows: [Partial<LoadCall>, number, RegExp][] = [
    [{ apiKey: 'x' }, exitStatuses.unauthorized, /401 .*not valid/],
    [{ file: join(directory, 'program.cc'), language: 'latin' }, exitStatuses.refused, /400/],
    [{ url: `${serviceUrl}/nowhere` }, exitStatuses.refused, /404/],
  ]
  for (const [call, expected, reason] of rows) {
    const { status, err } = await command({ seconds: '3600', ...call })
    t.equal(status, expected)
    t.match(err, reason)
  }
})

t.test('a call that is wrong sends nothing', async (t) => {
  const rows: [Partial<LoadCall>, number, RegExp][] = [
    [{ url: 'http://example.com' }, exitStatuses.usage, /https/],
    [{ url: 'nonsense' }, exitStatuses.usage, /URL/],
    [{ clients: '0' }, exitStatuses.usage, /--clients/],
    [{ clients: '1.5' }, exitStatuses.usage, /--clients/],
    [{ seconds: 'x' }, exitStatuses.usage, /--seconds/],
    [{ rate: '-1' }, exitStatuses.usage, /--rate/],
    [{ language: 'cpp' }, exitStatuses.usage, /--file/],
    [{ file: join(directory, 'none.py') }, exitStatuses.noInput, /no such file/],
    [{ file: directory }, exitStatuses.usage, /--language/],
  ]
  for (const [call, expected, reason] of rows) {
    const { status, out, err } = await command(call)
    t.equal(status, expected, JSON.stringify(call))
    t.equal(out, '')
    t.match(err, reason)
  }
})

t.test('a service that is away is unavailable, and asked again only after a while', async (t) => {
  const { status, out } = await command({ url: 'http://127.0.0.1:1', clients: '1', seconds: '0.1' })
  t.equal(status, exitStatuses.unavailable)
  t.match(JSON.parse(out), { sent: 1, completed: 0, errors: { unreachable: 1 } })
})

t.test('a service cannot steer the terminal', async (t) => {
  const hostile = createServer((request, response) => {
    request.resume()
    response.writeHead(503, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ error: '\u001b]0;owned\u0007', message: '\u001b[2J' }))
  })
  hostile.listen(0, '127.0.0.1')
  await once(hostile, 'listening')
  t.teardown(() => hostile.close())
  const { port } = hostile.address() as AddressInfo
  const { out } = await command({ url: `http://127.0.0.1:${port}`, seconds: '0.1' }, true)
  t.match(out, /http_503/)
  t.notMatch(out, /owned/)
})

t.test('a person sees it as it goes, and a table at the end', async (t) => {
  const ending = endEverything()
  const { status, out, err } = await command({}, true)
  await ending.stop()
  t.equal(status, 0)
  t.match(err, /under way/)
  t.ok(err.endsWith('\u001b[J'), 'the view is gone at the end')
  t.match(out, /^1\.0 of 1 s, 4 clients\ncompleted +\d+ +[\d.]+\/s\nlatency ms +p50/)
  t.match(out, /verdicts +AC \d+\n$/)
})

t.test('on the command line an interrupt ends it with what has been measured', async (t) => {
  const before = await countCompleted()
  const ending = endEverything()
  const child = spawn('node', ['bench/load/load.ts', '--clients', '2', '--seconds', '3600'], {
    env: { ...bareEnvironment, RUNLEDGER_URL: serviceUrl, RUNLEDGER_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const closed = once(child, 'close')
  while ((await countCompleted()) < before + 10) await sleep(20)
  child.kill('SIGINT')
  await closed
  await ending.stop()
  t.ok(JSON.parse(out).completed > 0)
})
