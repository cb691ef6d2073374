// Which languages can be submitted: those that a worker offers, or offered within the last day.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { json } from '#database'
import { pretendWorker } from '../helper/execution.ts'
import { pathsOf, startFreshServer } from '../helper/server.ts'

const { call, sql } = await startFreshServer(t)

const submit = (language: string): ReturnType<typeof call> =>
  call('POST', '/api/submit', { body: { language, code: '' } })

// Waits longer than a web process uses the offered languages that it read last.
const until = (): Promise<void> => sleep(1100)

/** Adds the row of a worker that stopped this many hours ago. */
async function addGone(language: string, hours: number): Promise<void> {
  await sql`
    insert into runledger.worker (id, host, pid, slots, languages, lease_seconds, renewed_at, stopped_at)
    values (
      ${uuidv7()}, 'gone', 1, 1, ${json(sql, { [language]: {} })}, 15, now() - make_interval(hours => ${hours}),
      now() - make_interval(hours => ${hours})
    )`
}

t.test('before its first worker a service takes every language of the catalogue', async (t) => {
  t.equal((await submit('cobol')).status, 202)
})

t.test('a language that was never offered is 400 with what is', async (t) => {
  await pretendWorker(sql, {
    python: { version: 'Python 3', compile: null, run: ['python3', 'main.py'] },
    go: { version: 'Go 1', compile: ['go'], run: ['./main'] },
  })
  await until()
  t.match(await submit('cobol'), {
    status: 400,
    body: {
      error: 'invalid_request',
      issues: [{ path: 'language', message: /offered by no worker.* offered are go, python$/ }],
    },
  })
  t.equal((await submit('golang')).status, 202, 'by any of its names')
})

t.test('an unknown name is 400 with the nearest, and what is offered is listed once', async (t) => {
  const nearest = { pyton: 'python', pyhton: 'python', Python: 'python', jav: 'java', 'c+': 'c++' }
  for (const [word, name] of Object.entries(nearest)) {
    const { status, body, text } = await submit(word)
    t.equal(status, 400)
    const message = `must be one of the languages that are offered: did you mean ${name}?`
    t.strictSame(body.issues, [{ path: 'language', message: `${message}; offered are go, python` }])
    t.equal(body.message, `The request is not valid: language ${message}.`)
    t.equal(text.split('offered are').length, 2)
  }
  const { body } = await submit('nothing that is near to any')
  t.match(body.issues, [{ message: /are offered; offered are go, python$/ }])
  const checker = { type: 'program', language: 'pyton', code: '' }
  const both = { language: 'pyton', code: '', tests: [{}], checker }
  const twice = await call('POST', '/api/submit', { body: both })
  t.equal(twice.text.split('offered are').length, 2, twice.text)
  const submissions = [
    { language: 'cobol', code: '' },
    both,
    { language: 'python', code: '' },
    both,
  ]
  const { status, text, body: batch } = await call('POST', '/api/submit/batch', { body: { submissions } }) // prettier-ignore
  t.equal(status, 202)
  t.equal(text.split('offered are').length, 2, text)
  t.match(batch.submissions, [
    { error: 'invalid_request' },
    { message: /mean python/ },
    { id: /./ },
  ])
  t.equal((await submit('x'.repeat(65_536))).status, 400)
})

t.test('one whose workers are away waits for a day, and is then 400', async (t) => {
  await addGone('lua', 23)
  await addGone('ada', 25)
  await until()
  t.equal((await submit('lua')).status, 202)
  t.equal((await submit('ada')).status, 400)
})

t.test('one whose trial is still to come is taken, and not listed', async (t) => {
  await pretendWorker(sql, { haskell: { awaits_trial: true } })
  await until()
  t.equal((await submit('hs')).status, 202)
  const { body } = await call('GET', '/api/languages')
  const told = body.languages.map(({ name }: { name: string }) => name)
  t.strictSame(told, ['go', 'python'])
})

t.test('a checker in a language that no worker has beside the program’s is 400', async (t) => {
  const checked = (language: string): ReturnType<typeof call> => {
    const checker = { type: 'program', language, code: '' }
    const body = { language: 'bash', code: '', tests: [{}], checker }
    return call('POST', '/api/submit', { body })
  }
  await pretendWorker(sql, { bash: {} })
  await pretendWorker(sql, { perl: {} })
  await until()
  t.match(await checked('perl'), {
    status: 400,
    body: {
      error: 'invalid_request',
      issues: [{ path: 'checker.language', message: /no worker that offers bash too/ }],
    },
  })
  t.match(await checked('fortran'), {
    status: 400,
    body: { issues: [{ path: 'checker.language', message: /offered by no worker, / }] },
  })
  t.equal((await checked('bash')).status, 202)
  await pretendWorker(sql, { bash: {}, perl: {} })
  await until()
  t.equal((await checked('perl')).status, 202)
})

t.test('what is not offered is told beside everything else that is wrong', async (t) => {
  const blob = '0'.repeat(64)
  const body = { language: 'cobol', code: 7, stdin_sha256: blob, tests: 1, stop_on_failure: true }
  const refused = await call('POST', '/api/submit', { body })
  t.equal(refused.status, 400)
  const paths = ['code', 'tests', 'stdin_sha256', 'language', 'stdin_sha256']
  t.strictSame(pathsOf(refused), paths)
})

t.test('in a batch it is refused in its place', async (t) => {
  const submissions = [
    { language: 'cobol', code: '' },
    { language: 'go', code: '' },
  ]
  const { status, body } = await call('POST', '/api/submit/batch', { body: { submissions } })
  t.equal(status, 202)
  t.match(body.submissions, [{ error: 'invalid_request' }, { id: String }])
})
