// A whole service for third-party clients, with a proxy for clients that can send no key.
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { installClients } from './clients.ts'

export interface DoorService {
  /** The base URL. */
  readonly service: string
  /** The base URL with the key as its password. */
  readonly withKey: string
  readonly key: string
  /** @param first where the first request goes instead of the service. @returns the base URL of a proxy that adds the key. */
  readonly startProxy: (first?: string) => Promise<string>
  /** Starts another web process, until the test ends. @returns its base URL. */
  readonly startAnother: (t: Test, options?: { readonly queueCapacity: number }) => Promise<string>
}

/** @param languages the languages that the worker offers, separated by commas. */
export async function startDoorService(t: Test, languages: string): Promise<DoorService> {
  await installClients()
  const { sql, url } = await openTestDatabase(t)
  await startWorkerProcess(t, url, { LANGUAGES: languages })
  const { port, issue } = await startServer(t, sql, { url })
  const key = await issue()
  const service = `http://127.0.0.1:${port}`
  const withKey = `http://any:${key}@127.0.0.1:${port}`
  const startAnother: DoorService['startAnother'] = async (during, options) =>
    `http://127.0.0.1:${(await startServer(during, sql, { url, ...options })).port}`
  return {
    service,
    withKey,
    key,
    startProxy: async (first = service) => startProxy(t, first, service, key),
    startAnother,
  }
}

async function startProxy(t: Test, first: string, service: string, key: string): Promise<string> {
  let target = first
  const proxy = createServer((incoming, response) => {
    const { method, url: path, headers } = incoming
    const forwarded = httpRequest(
      `${target}${path}`,
      { method, headers: { ...headers, 'x-api-key': key } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    target = service
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}
