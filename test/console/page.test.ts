// The logic of the console's page that needs no browser: escapes, words, requests, addresses, copies.
import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import t from 'tap'
import type { Result } from '#client'
import { readAsked, recallAsked, wantedInput } from '../../src/console/page/asked.ts'
import {
  emptyDraft,
  fromRequest,
  listLeftOut,
  readDraft,
  toRequest,
} from '../../src/console/page/draft.ts'
import {
  explain,
  formatBytes,
  formatSeconds,
  nameOutcome,
  share,
} from '../../src/console/page/format.ts'
import { findMistakes, showIssues } from '../../src/console/page/limit-field.ts'
import { formatRoute, parseRoute } from '../../src/console/page/route.ts'
import { writeSnippet } from '../../src/console/page/snippet.ts'
import { describeStory } from '../../src/console/page/story.ts'
import { cut, escapeHidden, showHidden } from '../../src/console/page/visible.ts'
import { seed } from '../helper/seed.ts'

t.test('what is not seen, or changes how others are read, becomes an escape', async (t) => {
  const rows = [
    ['plain\ttext\n', 'plain\ttext\n'],
    ['\u001b[31mred', '\\x1b[31mred'],
    ['a\r\nb', 'a\\r\nb'],
    ['\u202egnp.exe\u202c', '\\u202egnp.exe\\u202c'],
    ['\u0000\u007f\u009b', '\\x00\\x7f\\x9b'],
    ['zero\u200bwidth\ufeff', 'zero\\u200bwidth\\ufeff'],
    ['\u{e0041}', '\\u{e0041}'],
    ['ünïcode 漢字 😀 العربية', 'ünïcode 漢字 😀 العربية'],
  ]
  for (const [text = '', shown] of rows) t.equal(escapeHidden(text), shown)
  t.strictSame(showHidden('a\u0007\u0008b'), [
    { text: 'a', isEscape: false },
    { text: '\\x07\\x08', isEscape: true },
    { text: 'b', isEscape: false },
  ])
})

t.test('of any text nothing is lost, and no control character is left', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const pieces = showHidden(text)
      const plain = pieces.filter(({ isEscape }) => !isEscape).map((piece) => piece.text)
      // eslint-disable-next-line no-control-regex -- these must be gone
      if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(plain.join('')))
        return false
      return pieces.map((piece) => piece.text).join('') === escapeHidden(text)
    }),
    { seed },
  )
})

t.test('of many escapes the first are told apart, and all are escapes', async (t) => {
  const pieces = showHidden('a\u0007'.repeat(50_000))
  t.ok(pieces.length < 5000)
  t.equal(pieces.map(({ text }) => text).join(''), 'a\\x07'.repeat(50_000))
})

t.test('a cut never halves a character', async (t) => {
  t.equal(cut('a😀b', 2), 'a')
  t.equal(cut('a😀b', 3), 'a😀')
  t.equal(cut('ab', 2), 'ab')
})

t.test('figures read as people say them', async (t) => {
  const seconds = [0, 0.0001, 0.012, 0.9996, 1.254, 59.9, 125]
  t.strictSame(seconds.map(formatSeconds), [
    '0 s',
    '< 1 ms',
    '12 ms',
    '1 s',
    '1.25 s',
    '59.9 s',
    '2 min 5 s',
  ])
  const bytes = [0, 512, 1024, 9.5 * 1024, 256 * 1024 ** 2, 1.5 * 1024 ** 3]
  t.strictSame(bytes.map(formatBytes), ['0 B', '512 B', '1 KiB', '9.5 KiB', '256 MiB', '1.5 GiB'])
  t.strictSame([share(1, 4), share(9, 4), share(1, 0), share(-1, 4)], [0.25, 1, 0, 0])
})

t.test('a verdict says why: its limit, its signal, the test that decided', async (t) => {
  const result = (part: object): Result =>
    ({
      status: 'completed',
      verdict: 'AC',
      fault: null,
      limit: null,
      signal: null,
      tests: null,
      message: null,
      ...part,
    }) as Result
  t.equal(explain(result({})), '')
  t.match(explain(result({ verdict: 'TLE', limit: 'wall_time' })), /took longer than its limit/)
  t.match(explain(result({ verdict: 'RE', signal: 'SIGSEGV', exit_code: 139 })), /SIGSEGV ended it/)
  t.match(explain(result({ verdict: 'RE', exit_code: 3 })), /exit code 3/)
  t.equal(explain(result({ verdict: 'RE', exit_code: 1, message: 'Too few.' })), 'Too few.')
  t.match(explain(result({ verdict: 'IE', fault: 'checker' })), /^The checker failed/)
  t.match(explain(result({ verdict: 'IE', fault: 'platform' })), /^The service could not run it/)
  const tests = [
    { name: null, verdict: 'AC' },
    { name: 'large', verdict: 'MLE' },
  ]
  t.match(
    explain(result({ verdict: 'MLE', limit: 'memory', tests })),
    /more memory than its limit\. Test large decided\./,
  )
})

t.test('what nobody judged has finished; what read on without input is told so', async (t) => {
  const accepted = { status: 'completed', verdict: 'AC' } as const
  t.equal(nameOutcome(accepted, false).word, 'Finished')
  t.equal(nameOutcome(accepted).word, 'Accepted')
  t.equal(nameOutcome({ ...accepted, verdict: 'RE' }, false).word, 'Runtime error')
  const plain = readAsked({ language: 'python', code: '' })
  t.strictSame(plain, { isJudged: false, hasInput: false })
  t.match(readAsked({ language: 'python', code: '', expected_stdout: '' }), { isJudged: true })
  const received = (data: object) => [
    { position: 1, version: 1, type: 'submission.received', at: '', hash: '', data: { ...data } },
  ]
  const bytes = { sha256: '', bytes: 0 }
  t.strictSame(recallAsked(received({ stdin: bytes, expected_stdout: null }), false), plain)
  t.match(recallAsked(received({ stdin: bytes, expected_stdout: bytes }), false), { isJudged: true }) // prettier-ignore
  t.match(recallAsked(received({ stdin: bytes, expected_stdout: null }), true), { isJudged: true })
  for (const stderr of [
    'EOFError: EOF when reading a line',
    'Exception in thread "main" java.util.NoSuchElementException: No line found',
    'Main: <stdin>: hGetLine: end of file',
  ]) {
    t.ok(wantedInput(stderr, plain), stderr)
    t.notOk(wantedInput(stderr, { ...plain, hasInput: true }))
  }
  t.notOk(wantedInput('ZeroDivisionError', plain))
})

t.test('a limit that cannot be is told in the words of its field', async (t) => {
  const typed = { cpuTime: 'two', wallTime: '', memory: '-1' }
  t.match(findMistakes(typed), { cpuTime: /^A number above 0, such as 1.5/, memory: /256/ })
  t.strictSame(findMistakes({ cpuTime: '1', wallTime: '0.5', memory: '64' }), {})
  t.strictSame(
    showIssues([
      { path: 'limits.memory', message: 'must be at least 16777216' },
      { path: 'limits.wall_time', message: 'is more than this key’s tier allows: 10' },
      { path: 'code', message: 'must be a string' },
    ]),
    { memory: 'Must be at least 16 MiB.', wallTime: 'Is more than this key’s tier allows: 10 s.' },
  )
})

t.test('a request has only what was filled in', async (t) => {
  t.strictSame(toRequest({ ...emptyDraft, code: 'x' }), { language: 'python', code: 'x' })
  t.strictSame(
    toRequest({
      ...emptyDraft,
      code: 'x',
      stdin: 'not sent beside tests',
      outputFiles: 'nor.this',
      args: 'one\n\nthree\n',
      memory: '64',
      files: [{ id: 1, name: 'a.txt', content: 'x' }],
      tests: [
        { id: 1, name: 'a', stdin: '1', expected: '' },
        { id: 2, name: '', stdin: '', expected: null },
      ],
      checker: 'floats',
      tolerance: '1e-3',
      stopOnFailure: true,
    }),
    {
      language: 'python',
      code: 'x',
      files: [{ name: 'a.txt', content: 'x' }],
      args: ['one', '', 'three'],
      limits: { memory: 67_108_864 },
      tests: [{ name: 'a', stdin: '1', expected_stdout: '' }, {}],
      checker: { type: 'floats', absolute: 1e-3, relative: 1e-3 },
      stop_on_failure: true,
    },
  )
  t.strictSame(
    toRequest({ ...emptyDraft, outputFiles: ' out.bin\n\na/b.txt\n', lowPriority: true }),
    { language: 'python', code: '', output_files: ['out.bin', 'a/b.txt'], priority: 'low' },
  )
})

t.test('a request makes the draft that makes it again', async (t) => {
  const requests = [
    { language: 'python', code: 'x' },
    { language: 'cpp', code: 'x', stdin: '1', expected_stdout: '', args: ['a', ''], tag: 't' },
    {
      language: 'go',
      code: '',
      files: [{ name: 'a', content: 'b' }],
      limits: { cpu_time: 1.5, memory: 67_108_864 },
      tests: [{ name: 'a', stdin: '1', expected_stdout: '2' }, {}],
      checker: { type: 'floats', absolute: 1e-3, relative: 1e-3 },
      stop_on_failure: true,
      priority: 'low',
    },
    { language: 'c', code: 'x', compile_args: ['-O2'], output_files: ['a', 'b/c'] },
  ] as const
  for (const request of requests) {
    t.strictSame(toRequest(fromRequest(request)), request)
    t.strictSame(listLeftOut(request), [])
  }
  const more = { language: 'c', code: '', compile_limits: {}, output_encoding: 'base64' } as const
  t.strictSame(listLeftOut(more), ['compile_limits', 'output_encoding'])
  const binary = {
    language: 'c',
    code: '',
    stdin: '/w==',
    stdin_encoding: 'base64',
    files: [
      { name: 'a', content: '/w==', encoding: 'base64' },
      { name: 'b', content: '' },
    ],
    checker: { type: 'program', language: 'c', code: '' },
  } as const
  t.strictSame(listLeftOut(binary), ['binary input', 'binary files', 'checker'])
  t.match(toRequest(fromRequest(binary)), { stdin: undefined, files: [{ name: 'b' }] })
})

t.test('a draft survives its text; what is none does no harm', async (t) => {
  const draft = { ...emptyDraft, code: 'x', expected: 'y' }
  t.strictSame(readDraft(JSON.stringify(draft)), draft)
  for (const text of [null, '', '{', '7', 'null']) t.equal(readDraft(text), null)
  t.strictSame(readDraft('{"code":7,"tests":"x","other":1,"tag":"z"}'), { ...emptyDraft, tag: 'z' })
})

t.test('addresses are read as they are written', async (t) => {
  const routes = [
    { view: 'playground' },
    { view: 'submission', id: '018f0000-0000-7000-8000-000000000000' },
    { view: 'submissions', filter: {} },
    { view: 'submissions', filter: { verdict: 'WA', tag: 'a & b=c#d?' } },
    { view: 'submissions', filter: { day: '2030-01-31' } },
  ] as const
  for (const route of routes) t.strictSame(parseRoute(formatRoute(route)), route)
  t.strictSame(parseRoute(''), { view: 'playground' })
  for (const hash of ['#/x', '#/submission/', '#/submission/../x', '#/submission/a/b'])
    t.strictSame(parseRoute(hash), { view: 'unknown' }, hash)
})

t.test('copies are one shell word and one Python value, whatever the code', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (noise) => {
      const request = {
        language: 'python',
        code: `'"\\\n$x \`y\`${noise.replaceAll('\u0000', '')}`,
      }
      const curl = writeSnippet('curl', request, 'http://localhost:3000')
      const script = `curl() { for last; do :; done; printf %s "$last"; }\n${curl}`
      const shell = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' })
      return shell.stdout === JSON.stringify(request)
    }),
    { numRuns: 30, seed },
  )
  const request = { language: 'python', code: '"\'\\\n\u2028', stop_on_failure: true, args: [] }
  const python = writeSnippet('Python', request, 'http://localhost:3000')
  const body = python.slice(python.indexOf('body ='), python.indexOf('request ='))
  const script = `import json\n${body}\nprint(json.dumps(body))`
  const { stdout } = spawnSync('/usr/bin/python3', ['-c', script], { encoding: 'utf8' })
  t.strictSame(JSON.parse(stdout), request)
})

t.test('a log is told in steps: the wait, the attempts, the phases, the webhook', async (t) => {
  const at = (seconds: number): string =>
    new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()
  const hash = 'ab'.repeat(32)
  const phase = { exit_code: 0, wall_time: 1.5, memory_peak: 1024 }
  const event = (type: string, seconds: number, data: object = {}) => ({
    position: seconds,
    version: seconds,
    type,
    at: at(seconds),
    hash,
    data: data as Record<string, unknown>,
  })
  const steps = describeStory(
    [
      event('submission.received', 0, { language: 'cpp', code: { bytes: 10 } }),
      event('execution.started', 2, { attempt: 1, runtime: 'g++ 12' }),
      event('execution.interrupted', 3, { reason: 'worker_lost' }),
      event('execution.started', 7, { attempt: 2, runtime: 'g++ 12' }),
      event('execution.completed', 9, {
        verdict: 'WA',
        compile: { ...phase, cached: false },
        run: phase,
        tests: [{ ...phase, verdict: 'AC' }, { ...phase, verdict: 'WA' }, { verdict: null }],
      }),
      event('webhook.attempt_failed', 10, { attempt: 1, outcome: 'refused', status: 500 }),
      event('later.release', 11),
    ],
    ['first', null],
  )
  const told = steps.map(({ title, seconds }) => [title, seconds])
  t.strictSame(told, [
    ['Received', null],
    ['Waited for a worker', 2],
    ['Attempt 1', null],
    ['Interrupted', null],
    ['Waited for a worker', 4],
    ['Attempt 2', null],
    ['Compiled', 1.5],
    ['Test first', 1.5],
    ['Test 2', 1.5],
    ['1 test not run', null],
    ['Wrong answer', null],
    ['Webhook, attempt 1', null],
    ['later.release', null],
  ])
  t.strictSame(
    steps.flatMap(({ at, hash }) => (at === null ? [hash] : [])),
    [null, null, null, null, null, null],
    'what is no event has no hash',
  )
  t.equal(steps.at(-1)?.hash, hash)
  t.match(
    steps.find(({ title }) => title.startsWith('Webhook')),
    { detail: 'refused, status 500' },
  )
})
