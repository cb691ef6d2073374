// `top`: its output, and its end.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import type { Overview, SeenWorker } from '#client'
import { drawOverview, formatAge } from '../../src/cli/top.ts'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { isAnyWaiting } from '../helper/lock.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startFreshServer } from '../helper/server.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'
import { startTcpProxy } from '../helper/tcp-proxy.ts'

const web = await startFreshServer(t, { role: 'runledger_api' })
const { sql } = web
const proxy = await startTcpProxy(`http://127.0.0.1:${web.port}`)
t.teardown(() => proxy.close())
const { key } = await issueOperatorKey(sql, { readOnly: true })
const environment = { ...bareEnvironment, RUNLEDGER_URL: proxy.url, RUNLEDGER_OPERATOR_KEY: key }

const overview: Overview = {
  read_only: false,
  refusals: { seconds: 0, counts: {} },
  at: '2030-01-01T00:00:10Z',
  oldest: {
    id: '018f0000-0000-7000-8000-000000000000',
    seconds: 75,
    language: 'cpp',
    account: 'a\u001B[2Jb',
    priority: 'low',
  },
  load: {
    waiting: 3,
    queued: 2,
    running: 1,
    oldest_waiting_seconds: 75,
    oldest_queued_seconds: 4,
    workers: 2,
    suspended_workers: 1,
    paused_workers: 0,
    slots: 4,
    deliveries_pending: 5,
  },
  languages: [{ language: 'cpp', waiting: 5, low: 1, running: 1, oldest_seconds: 75 }],
  accounts: [],
  workers: [],
  recent: {
    seconds: 300,
    received: 600,
    ended: 300,
    waited: { p50: 0.01, p95: 1.5, p99: 20 },
    ran: null,
    took: null,
    verdicts: { AC: 290, WA: 10 },
    languages: { cpp: 300 },
  },
  ledger: {
    drift: 1,
    broken_chain: 0,
    invariant: 1,
    checked_at: '2030-01-01T00:00:05Z',
    walked_at: null,
    walked_up_to: '2029-12-31T00:00:00Z',
    suspects: [],
  },
}

t.test('the oldest comes first, then all else; strangers’ text steers no terminal', async (t) => {
  const lines = drawOverview(overview)
  t.match(lines[0], /^oldest {4}75\.0 s {2}cpp of a\\u001b\[2Jb, low, 018f/)
  t.match(lines.join('\n'), '2.0/s in, 1.0/s out')
  t.match(lines.join('\n'), 'waited 10 ms / 1.5 s / 20.0 s')
  t.match(lines.join('\n'), 'AC 290  WA 10')
  t.match(lines.join('\n'), 'NOT WHOLE: drift 1, broken_chain 0, invariant 1; checked 5.0 s ago, all of it never yet') // prettier-ignore
  t.match(drawOverview({ ...overview, oldest: null })[0], 'nothing waits')
  t.ok(drawOverview(overview, 20).every((line) => line.length <= 20))
})

t.test('whatever a worker or a key says of itself steers no terminal', async (t) => {
  const text: string = '\u001B[2J\u202E'
  const worker: SeenWorker = {
    id: text,
    host: text,
    pid: 1,
    state: text as SeenWorker['state'],
    wanted: text as SeenWorker['wanted'],
    version: text,
    box: text,
    cgroup: text,
    slots: 1,
    busy: 0,
    started_at: overview.at,
    heartbeat_seconds: 1,
    suspended_at: overview.at,
    suspended_because: text,
    languages: [],
  }
  const key = {
    id: text,
    label: text,
    name: text,
    tier: text,
    unfinished: 1,
    admitted: 1,
    concurrent_executions: null,
    requests: 0,
    requests_per_minute: null,
    blob_bytes: null,
  }
  const account = { id: text, name: text, waiting: 1, running: 0, blob_bytes: 0, keys: [key] }
  const [language] = overview.languages
  const lines = drawOverview({
    ...overview,
    workers: [worker],
    accounts: [account],
    languages: language === undefined ? [] : [{ ...language, language: text }],
    recent: { ...overview.recent, verdicts: { [text]: 1 } },
  })
  t.notMatch(lines.join(''), /[\p{Cc}\p{Cf}]/u)
})

t.test('ages are told in the unit that fits', async (t) => {
  t.strictSame([-1, 0.08, 2.5, 720, 11_520, 345_600].map(formatAge), [
    '0 ms',
    '80 ms',
    '2.5 s',
    '12 min',
    '3.2 h',
    '4.0 d',
  ])
})

const root = `${import.meta.dirname}/../..`

async function run(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['src/cli/cli.ts', 'top', ...words], {
    cwd: root,
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = [child.stdout, child.stderr].map((one) => one.setEncoding('utf8').toArray())
  const [status] = (await once(child, 'exit')) as [number | null]
  return { status, out: (await out!).join(''), err: (await err!).join('') }
}

t.test('where stdout is no terminal it is printed once, with a key that only looks', async (t) => {
  await submitNew(sql, await createCaller(sql), describeSubmission({ code: '' }))
  for (const [words, expected] of [
    [[], /^oldest .*python of account/],
    [['--json'], /^\{.*"oldest":/],
  ] as const) {
    const { status, out, err } = await run(words)
    t.strictSame([status, err], [0, ''])
    t.match(out, expected)
    t.notMatch(out, '\u001B')
  }
})

t.test('with a wrong key, or where nobody answers, it says what to do', async (t) => {
  const refused = await run(['--once'], { RUNLEDGER_OPERATOR_KEY: 'x' })
  t.match(refused, { status: 77, err: /keys issue --account ops --role operator/ })
  const away = await run(['--once'], { RUNLEDGER_URL: 'http://127.0.0.1:1' })
  const told = /no web process answers: no answer from http.* RUNLEDGER_URL/
  t.match(away, { status: 69, err: told })
})

// `script` provides a terminal, and the test sends the keys that a person would press.
const skip = spawnSync('script', ['--version']).error === undefined ? false : 'there is no script'

function spawnAtTerminal(t: Test) {
  const words = ['-qfec', `exec ${process.execPath} src/cli/cli.ts top`, '/dev/null']
  const child = spawn('script', words, {
    cwd: root,
    env: { ...environment, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  const seen = { text: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk))
  const draws = (): number => seen.text.split('\u001B[H').length - 1
  return { child, seen, draws, ended: once(child, 'exit') }
}

/** Starts it again when the service was too busy for the first look, after which it does not try again. */
async function startAtTerminal(t: Test) {
  for (;;) {
    const top = spawnAtTerminal(t)
    while (top.draws() === 0 && top.child.exitCode === null) await sleep(50)
    if (top.draws() > 0) return top
    if (top.child.exitCode !== 69) throw new Error(top.seen.text)
  }
}

t.test(
  'at a terminal it draws until Ctrl-C, and leaves the screen as it was',
  { skip },
  async (t) => {
    const { child, seen, draws, ended } = await startAtTerminal(t)
    while (draws() < 2) await sleep(50)
    child.stdin.write('\u0003')
    t.strictSame(await ended, [0, null])
    t.ok(seen.text.trimEnd().endsWith('\u001B[?1049l'))
  },
)

/** Locks a table that an overview reads, and does the work once an overview waits for it. */
const duringLook = (work: () => Promise<unknown>) =>
  sql.begin(async (transaction) => {
    await transaction`lock table runledger.ledger_check in access exclusive mode`
    while (!(await isAnyWaiting(sql, 'runledger.ledger_check'))) await sleep(20)
    await work()
  })

t.test('a lost connection is told, and tried again', { skip }, async (t) => {
  const { child, seen, draws, ended } = await startAtTerminal(t)
  await proxy.stop()
  while (!/OLD {7}as of /.test(seen.text)) await sleep(20)
  await proxy.restore()
  const before = draws()
  while (draws() < before + 2) await sleep(50)
  child.stdin.write('\u0003')
  t.strictSame(await ended, [0, null])
})

t.test('Ctrl-C ends a look that stalls', { skip }, async (t) => {
  const { child, seen, ended } = await startAtTerminal(t)
  await duringLook(async () => {
    child.stdin.write('\u0003')
    t.strictSame(await ended, [0, null], 'while it still waits')
  })
  t.ok(seen.text.trimEnd().endsWith('\u001B[?1049l'))
})
