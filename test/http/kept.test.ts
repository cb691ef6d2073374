// What a process keeps while requests wait for their programs: not the submissions, which may have megabytes each.
import { request } from 'node:http'
import type { ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { finish, listPending } from '../helper/execution.ts'
import { startFreshServer } from '../helper/server.ts'

const { issue, port, waiter, sql } = await startFreshServer(t, { syncWaitSeconds: 300 })
const key = await issue()
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const first = 4
const requests = 24
const bytes = 1_000_000
const text = 'x'.repeat(bytes)
const file = { name: 'a', content: text }
const encoded = Buffer.from(text).toString('base64').slice(0, bytes)
const python = { language: 'python', code: '' }

const ways: Readonly<Record<string, { readonly body: object; readonly accept?: string }>> = {
  '/api/submit?wait=true': { body: { ...python, files: [file] } },
  '/api/submit': { body: { ...python, files: [file] }, accept: 'text/event-stream' },
  '/api/submit/batch': { body: { submissions: [{ ...python, files: [file] }] }, accept: 'application/x-ndjson' },
  '/mcp': {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'run_code', arguments: { ...python, files: [file] } },
    },
  },
  '/run_code': { body: { ...python, files: { a: encoded } } },
} // prettier-ignore

/** Measures what is left after garbage collection, which frees buffers a moment later. */
async function measure(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collect()
    await sleep(20)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

for (const [path, { body, accept }] of Object.entries(ways))
  t.test(`${path} keeps no submission while it runs`, async (t) => {
    const statuses = new Set<number | undefined>()
    const payload = Buffer.from(JSON.stringify(body))
    const send = (): ClientRequest =>
      request({
        host: '127.0.0.1', port, method: 'POST', path, agent: false,
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Content-Length': payload.length, ...(accept && { Accept: accept }) },
      }) // prettier-ignore
        .on('error', () => {})
        .on('response', (response) => {
          statuses.add(response.statusCode)
          response.resume()
        })
    const sent: ClientRequest[] = []
    const sendUntil = async (count: number): Promise<void> => {
      while (sent.length < count) {
        const outgoing = send()
        sent.push(outgoing)
        outgoing.end(payload)
        while ((await listPending(sql)).length < sent.length) {
          if ([...statuses].some((status) => status !== 200)) throw new Error([...statuses].join())
          await sleep(5)
        }
      }
    }
    // The first requests also load code.
    await sendUntil(first)
    const before = await measure()
    await sendUntil(first + requests)
    const kept = ((await measure()) - before) / (requests * payload.length)
    t.ok(kept < 0.35, `${kept.toFixed(2)} of what was sent`)
    for (const outgoing of sent) outgoing.destroy()
    for (const id of await listPending(sql)) await finish(sql, id)
    while (waiter.waiting > 0) await sleep(5)
  })
