// Judge0's callbacks, delivered like webhooks: a PUT to a real HTTPS receiver, repeated until it answers 2xx.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readStream } from '#event'
import { parseRanges } from '#webhook'
import { createTestDatabase } from '../../helper/database.ts'
import { startServer } from '../../helper/server.ts'
import { startWorkerProcess } from '../../helper/worker.ts'
import { awaitDelivery, readAttempts, receiverAddress } from '../../job/delivery.ts'
import { createAuthority } from '../../webhook/certificate.ts'
import { createReceiver } from '../../webhook/receiver.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const authority = createAuthority()
const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
writeFileSync(join(directory, 'authority.pem'), authority.pem)
let failures = 1
const receiver = await createReceiver(
  authority.issue([`IP:${receiverAddress}`]),
  (response) => {
    failures -= 1
    response.writeHead(failures >= 0 ? 500 : 200).end()
  },
  receiverAddress,
)
t.teardown(async () => {
  await receiver.close()
  authority.remove()
  rmSync(directory, { recursive: true, force: true })
})
await startWorkerProcess(t, url, {
  LANGUAGES: 'python',
  WEBHOOK_ALLOWED_RANGES: receiverAddress,
  WEBHOOK_ALLOWED_PORTS: String(receiver.port),
  WEBHOOK_CA: join(directory, 'authority.pem'),
  WEBHOOK_SCHEDULE_SECONDS: '0.2,0.3',
})
const { call } = await startServer(t, sql, {
  url,
  webhookRules: { ranges: parseRanges(receiverAddress).ranges, ports: [receiver.port] },
})

t.test('a callback is a PUT of the usual fields in base64, and is not lost', async (t) => {
  const source = 'import sys; sys.stdout.buffer.write(b"\\xff" * 50); exit(3)'
  const { status, body } = await call('POST', '/judge0/submissions', {
    body: {
      language_id: 71,
      source_code: source,
      callback_url: `https://${receiverAddress}:${receiver.port}/done?a=b`,
    },
    checked: false,
  })
  t.equal(status, 201)
  const { token } = body
  t.match(await awaitDelivery(sql, token), { state: 'delivered', attempts: 2, secret: null })
  t.equal((await readAttempts(sql, token)).length, 2)
  t.equal(receiver.requests.length, 2)
  const [first, second] = receiver.requests
  t.strictSame(first!.body, second!.body)
  t.match(second, { method: 'PUT', path: '/done?a=b' })
  t.match(second!.headers, { 'content-type': 'application/json', 'webhook-id': String })
  t.equal(second!.headers['webhook-signature'], undefined, 'Judge0 signs nothing')
  const told = JSON.parse(second!.body.toString()) as Record<string, unknown>
  const output = Buffer.alloc(50, 0xff).toString('base64')
  t.match(told, {
    token,
    stdout: `${output.slice(0, 60)}\n${output.slice(60)}\n`,
    stderr: null,
    compile_output: null,
    message: `${Buffer.from('Exited with error status 3').toString('base64')}\n`,
    status: { id: 11, description: 'Runtime Error (NZEC)' },
    time: /^\d/,
    memory: Number,
  })
  t.equal(Object.keys(told).length, 8)
  const [received] = await readStream(sql, token)
  t.match(received?.data, { webhook: { format: 'judge0', host: String } })
})

t.test('where a webhook may not go, a callback may not', async (t) => {
  for (const address of ['https://127.0.0.1/', `https://user@${receiverAddress}/`]) {
    const answer = await call('POST', '/judge0/submissions', {
      body: { language_id: 71, source_code: 'print(1)', callback_url: address },
      checked: false,
    })
    t.match(answer, { status: 422, body: { callback_url: Array } })
  }
})
