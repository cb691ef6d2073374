// Code that reads a stranger's bytes takes linear time, whatever the bytes are. Each reader gets the known worst cases for
// it and for similar readers, at the limit's size.
import { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import t from 'tap'
import { check } from '#checker'
import type { BuiltInChecker } from '#checker'
import { defaultSettings } from '#language'
import { ordinaryToolHost } from '#toolchain'
import { isWellFormedKey } from '../../src/account/key.ts'
import { printable } from '../../src/cli/output.ts'
import { verifyWebhook } from '#client'
import { findDifference } from '../../src/console/page/compare.ts'
import { escapeHidden } from '../../src/console/page/visible.ts'
import { readFrames } from '../../src/executor/resident/frame.ts'
import { findJava } from '../../src/executor/toolchain/java/java.ts'
import { readEmitted } from '../../src/executor/toolchain/node/emitted.ts'
import { findPython } from '../../src/executor/toolchain/python/python.ts'
import { readIdempotencyKey, readQuery, readWait } from '../../src/http/request.ts'
import type { ApiRequest } from '../../src/http/request.ts'
import { readSubmission } from '../../src/http/submission.ts'
import { describeOutcome } from '../../src/job/execute/completion.ts'
import { toRecord } from '../../src/result/record.ts'
import type { ResultRow } from '../../src/result/record.ts'
import { parseRetryAfter } from '../../src/webhook/retry.ts'
import { describePhase } from '../helper/executor.ts'
import * as filling from './filling.ts'
import { fill } from './filling.ts'
import { holdToLinear } from './measure.ts'

const headerBytes = 16 << 10
const sourceBytes = 64 << 10
const outputBytes = 1 << 20
const bodyBytes = 2 << 20
const emittedBytes = 8 << 20

t.test('sources of Python', async (t) => {
  const { run } = await findPython(ordinaryToolHost, defaultSettings)
  for (const [name, text] of fill(sourceBytes, filling.pythonSources)) {
    const content = Buffer.from(text)
    await holdToLinear(t, name, sourceBytes, () => run({ content, entry: '' }, 1))
  }
})

t.test('what the compiler of TypeScript emitted', async (t) => {
  const emitted = {
    'one large file': `main.js ${emittedBytes - 16}\n${'x'.repeat(emittedBytes - 16)}`,
    'as many as there may be': `main.js 8000\n${'\n'.repeat(8000)}`.repeat(1024),
    'empty ones': 'x 0\n'.repeat(emittedBytes / 4),
    'a name without end': 'a/'.repeat(emittedBytes / 2),
  }
  for (const [name, text] of Object.entries(emitted)) {
    const bytes = Buffer.from(text)
    await holdToLinear(t, name, emittedBytes, () => {
      try {
        readEmitted(bytes)
      } catch {}
    })
  }
})

const withoutTests = { tests: null, asksFiles: false, wasStopped: false, blobs: undefined, slotSeconds: 0 } // prettier-ignore

t.test('outputs', async (t) => {
  const { ranOutOfMemory } = await findJava(ordinaryToolHost, defaultSettings)
  for (const [name, text] of fill(outputBytes, filling.outputs)) {
    const bytes = Buffer.from(text)
    const run = describePhase({ stdout: bytes, stderr: bytes.subarray(0, 1) })
    const outcome = { compile: run, compileCached: false, run }
    // Comparing the same bytes would be no work.
    const expected = { stdout: Buffer.concat([bytes, Buffer.from('x')]), checker: undefined }
    const row = { finished_at: new Date(), purged_at: null, stdout: bytes } as unknown as ResultRow
    Object.assign(row, { created_at: new Date(), started_at: null, compile: null })
    const readers = {
      verdict: () => describeOutcome({ outcome, expected, ...withoutTests }, false),
      'end of a JVM': () => [1, 3].map((exitCode) => ranOutOfMemory!(exitCode, bytes)),
      record: () => JSON.stringify(toRecord(row)),
      terminal: () => printable(text),
      page: () => escapeHidden(text),
      'beside another': () => findDifference(text, `${text}.`),
    }
    for (const [reader, read] of Object.entries(readers))
      await holdToLinear(t, `${reader}: ${name}`, outputBytes, read)
  }
})

t.test('outputs and what is expected of them', async (t) => {
  const checkers: readonly BuiltInChecker[] = [
    { type: 'exact' },
    { type: 'lines' },
    { type: 'unordered_lines' },
    { type: 'tokens' },
    { type: 'floats', absolute: 1, relative: 1 },
  ]
  for (const [name, text] of fill(outputBytes, filling.judgedOutputs)) {
    const output = Buffer.from(text)
    // With the reversed text, a checker has no quick way to see that nothing differs.
    const others = [output, Buffer.from(text.split('').toReversed().join(''))]
    for (const checker of checkers)
      await holdToLinear(t, `${checker.type}: ${name}`, outputBytes, () =>
        others.map((expected) => check(checker, output, expected)),
      )
  }
})

t.test('what comes a byte at a time', async (t) => {
  const byte = Buffer.alloc(1)
  const sendAll = (stream: EventEmitter, count: number): void => {
    for (let sent = 0; sent < count; sent += 1) stream.emit('data', byte)
  }
  await holdToLinear(t, 'a frame', sourceBytes, async () => {
    const stream = new EventEmitter()
    const next = readFrames(stream as Readable, sourceBytes, () => {})()
    const length = Buffer.alloc(4)
    length.writeUInt32BE(sourceBytes)
    stream.emit('data', length)
    sendAll(stream, sourceBytes)
    await next
  })
})

t.test('bodies of requests', async (t) => {
  const rules = { ranges: [], ports: [443] }
  const parse = (body: unknown): unknown => readSubmission(body, {}, rules)
  const bodies = {
    'many fields': `{${Array.from({ length: 150_000 }, (_, index) => `"${index}":0`).join(',')}}`,
    'a long field': `{"${'a'.repeat(bodyBytes - 10)}":0}`,
    'a long list': `{"code":[${'0,'.repeat(bodyBytes / 2 - 10)}0]}`,
    'many arguments': `{"args":[${'"",'.repeat(bodyBytes / 3 - 10)}0]}`,
    'many files': `{"files":[${'{},'.repeat(bodyBytes / 3 - 10)}0]}`,
    'unknown fields of a file': `{"files":[{${Array.from({ length: 150_000 }, (_, index) => `"${index}":0`).join(',')}}]}`,
    'wrong arguments of many tests': `{"tests":[${`{"args":[${'0,'.repeat(63)}0]},`.repeat(199)}{}]}`,
    'wrong files of a checker': `{"checker":{"type":"program","files":[${'{"name":0,"content":0},'.repeat(63)}{}]}}`,
    'a long name': `{"files":[{"content":"","name":"${'a/'.repeat(bodyBytes / 2 - 50)}"}]}`,
    'a long file': `{"files":[{"name":"a","encoding":"base64","content":"${'A'.repeat(bodyBytes - 100)}"}]}`,
    'text that has no UTF-8': `{"code":"${'\\ud800'.repeat(bodyBytes / 6 - 10)}"}`,
  }
  for (const [name, body] of Object.entries(bodies))
    await holdToLinear(t, name, bodyBytes, () => parse(JSON.parse(body)))
  for (const bytes of [5000, 8000, bodyBytes / 20]) {
    for (const [name, url] of fill(bytes, filling.addresses)) {
      const body = JSON.stringify({ webhook_url: url })
      await holdToLinear(t, `20 URLs of ${bytes} bytes: ${name}`, bodyBytes, () => {
        for (let item = 0; item < 20; item += 1) parse(JSON.parse(body))
      })
    }
  }
})

t.test('headers and queries', async (t) => {
  const body = 'x'.repeat(2 * bodyBytes)
  const now = Math.floor(Date.now() / 1000)
  for (const [name, text] of fill(headerBytes, filling.headers)) {
    const request = {
      headers: { prefer: text, 'idempotency-key': text },
      search: `?${text.replaceAll(' ', '&')}`,
    } as unknown as ApiRequest
    const received = { secret: text, now, body }
    const signed = {
      'webhook-id': text,
      'webhook-timestamp': String(now),
      'webhook-signature': text,
    }
    const readers = {
      'Prefer and query': () => readWait(request, 1),
      'Idempotency-Key': () => readIdempotencyKey(request),
      query: () => readQuery(request, ['wait']),
      'X-API-Key': () => isWellFormedKey(text),
      'X-API-Key, an operator’s': () => isWellFormedKey(text, 'operator'),
      'Retry-After': () => parseRetryAfter(text),
      'webhook-signature': () => verifyWebhook({ ...received, headers: signed }),
    }
    for (const [reader, read] of Object.entries(readers)) {
      const bytes = reader.startsWith('webhook') ? body.length : headerBytes
      await holdToLinear(t, `${reader}: ${name}`, bytes, read)
    }
  }
})
