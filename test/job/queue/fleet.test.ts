// A fleet of hosts that have different languages: real worker processes with real toolchains, on one queue.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { catalogue } from '#language'
import type { Language } from '#language'
import { readResult } from '#result'
import { openTestDatabase } from '../../helper/database.ts'
import { findBroken } from '../../helper/ledger.ts'
import { copy } from '../../helper/program.ts'
import { startServer } from '../../helper/server.ts'
import {
  createCaller,
  describeSubmission,
  finalResult,
  submitNew,
} from '../../helper/submission.ts'
import { startWorkerProcess } from '../../helper/worker.ts'
import type { WorkerProcess } from '../../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
const caller = await createCaller(sql)
const { call } = await startServer(t, sql, { url })

interface Member extends WorkerProcess {
  readonly id: string
}

/** Starts a worker with two slots, and waits until it takes these languages. */
async function startMember(
  test: Test,
  languages: readonly Language[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Member> {
  const worker = await startWorkerProcess(test, url, {
    ...environment,
    LANGUAGES: languages.join(),
  })
  for (;;) {
    // On a busy machine the worker may have been lost meanwhile, and have another id.
    const [offer] = await sql<{ id: string; ready: boolean }[]>`
      select w.id, bool_and(not offered.value ? 'awaits_trial') as ready
      from audit.worker seen
      join runledger.worker w on w.id = seen.id
      cross join lateral jsonb_each(w.languages) offered
      where seen.pid = ${worker.child.pid!} and seen.alive
      group by w.id`
    if (offer?.ready === true) return { ...worker, id: offer.id }
    await sleep(50)
  }
}

/** Submits a program that copies its input; in a language without one, the example that greets. */
const submit = (language: Language): Promise<string> => {
  const code = language in copy ? copy[language as keyof typeof copy] : catalogue[language].example
  return submitNew(sql, caller, describeSubmission({ language, code, stdin: 'here' }))
}

/** Submits a program that holds a slot for longer than the tests look. */
const hold = (): Promise<string> =>
  submitNew(sql, caller, describeSubmission({ code: 'import time; time.sleep(300)' }))

async function readStatuses(ids: readonly string[]): Promise<unknown[]> {
  return Promise.all(ids.map(async (id) => (await readResult(sql, id))?.status))
}

/** Returns the ids of the workers that started the submission, in the order of attempts. */
async function readWorkers(id: string): Promise<string[]> {
  const rows = await sql<{ worker_id: string }[]>`
    select worker_id from audit.execution where submission_id = ${id} order by attempt`
  return rows.map((row) => row.worker_id)
}

/** Reads from /metrics, for each language, how many submissions wait and how many workers run it. */
async function scrape(): Promise<Record<string, { waiting?: number; workers?: number }>> {
  let text = ''
  // A database that answers late leaves the figures out.
  while (!/^runledger_database_up 1$/m.test(text))
    ({ text } = await call('GET', '/metrics', { key: null, checked: false }))
  const figures: Record<string, { waiting?: number; workers?: number }> = {}
  const pattern = /^runledger_(waiting_submissions|language_workers)\{language="(\w+)"\} (\d+)$/gm
  for (const [, name, language = '', figure] of text.matchAll(pattern))
    (figures[language] ??= {})[name === 'language_workers' ? 'workers' : 'waiting'] = Number(figure)
  return figures
}

const native = await startMember(t, ['python', 'cpp'], { PYTHON_RUN_WALL_SECONDS: '300' })
const managed = await startMember(t, ['java', 'javascript'])

t.test('what comes to a fleet runs where its language is', async (t) => {
  const places = { python: native, cpp: native, java: managed, javascript: managed } as const
  const languages = Object.keys(places) as (keyof typeof places)[]
  const ids = await Promise.all([...languages, ...languages].map(submit))
  for (const [index, id] of ids.entries()) {
    const record = await finalResult(sql, id)
    t.match(record, { verdict: 'AC', stdout: /here|Hello/ })
    t.strictSame(await readWorkers(id), [places[languages[index % 4]!].id], record.language)
  }
})

const holding = [await hold(), await hold()]
while ((await readStatuses(holding)).some((status) => status !== 'running')) await sleep(50)
const waiting = [await submit('python'), await submit('cpp'), await submit('python')]

t.test('nothing waits behind a worker that is full but what it alone can run', async (t) => {
  for (const language of ['java', 'javascript', 'java'] as const) {
    const id = await submit(language)
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    t.strictSame(await readWorkers(id), [managed.id])
  }
  t.strictSame(await readStatuses(holding), ['running', 'running'])
  t.strictSame(await readStatuses(waiting), ['queued', 'queued', 'queued'])
  t.match(await scrape(), {
    python: { waiting: 2, workers: 1 },
    cpp: { waiting: 1, workers: 1 },
    java: { workers: 1 },
    javascript: { workers: 1 },
  })
})

t.test('one that shares a language takes what waits for another’s slot', async (t) => {
  const helper = await startMember(t, ['python', 'javascript'])
  for (const id of [waiting[0]!, waiting[2]!]) {
    t.match(await finalResult(sql, id), { verdict: 'AC' })
    t.strictSame(await readWorkers(id), [helper.id])
  }
  t.strictSame(await readStatuses([...holding, waiting[1]!]), ['running', 'running', 'queued'])
  t.match(await scrape(), { python: { workers: 2 }, cpp: { waiting: 1, workers: 1 } })
  helper.child.kill('SIGTERM')
  t.strictSame(await helper.ended, [0, null])
})

t.test('what the last worker of a language leaves waits until one comes', async (t) => {
  native.child.kill('SIGTERM')
  t.strictSame(await native.ended, [0, null])
  const left = [...holding, waiting[1]!, await submit('python')]
  const other = await submit('javascript')
  t.match(await finalResult(sql, other), { verdict: 'AC' })
  t.strictSame(await readWorkers(other), [managed.id])
  t.strictSame(await readStatuses(left), ['queued', 'queued', 'queued', 'queued'])
  t.match(await scrape(), {
    python: { waiting: 3, workers: 0 },
    cpp: { waiting: 1, workers: 0 },
    java: { workers: 1 },
  })

  // The new worker has the usual wall time limit, which ends the programs that hold slots.
  const next = await startMember(t, ['python', 'cpp'])
  for (const [index, id] of left.entries()) {
    t.match(await finalResult(sql, id), { verdict: index < 2 ? 'TLE' : 'AC' })
    t.equal((await readWorkers(id)).at(-1), next.id)
  }
  t.notOk((await scrape())['python']?.waiting, 'nothing waits any more')
  t.strictSame(await findBroken(sql), [])
})
