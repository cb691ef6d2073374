// The service that the documentation's commands run against: one web process, one worker, and a receiver of webhooks.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { issueKey } from '#account'
import type { Database } from '#database'
import { openTestDatabase } from '../helper/database.ts'
import { issueOperatorKey } from '../helper/operator.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { createAuthority } from '../webhook/certificate.ts'
import { createReceiver } from '../webhook/receiver.ts'
import type { Receiver } from '../webhook/receiver.ts'

export interface DocumentedService {
  readonly sql: Database
  readonly url: string
  readonly origin: string
  /** A key of the tier `unlimited`, because the commands of all pages run within a minute. */
  readonly key: string
  readonly operatorKey: string
  readonly receiver: Receiver
  /** The URL of the receiver as the service sees it. */
  readonly hook: string
}

/** Makes a receipt key in PEM. */
function makeReceiptKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
}

// A loopback address that no other listener of the tests uses.
const receiverAddress = '127.0.0.2'

/** Starts everything; it ends with the test. */
export async function startDocumentedService(t: Test): Promise<DocumentedService> {
  const { sql, url } = await openTestDatabase(t)
  const directory = mkdtempSync(join(tmpdir(), 'runledger-docs-'))
  const authority = createAuthority()
  t.teardown(() => {
    authority.remove()
    rmSync(directory, { recursive: true, force: true })
  })
  const identity = authority.issue([`IP:${receiverAddress}`])
  const receiver = await createReceiver(
    identity,
    (response) => response.writeHead(204).end(),
    receiverAddress,
  )
  t.teardown(() => receiver.close())
  const authorityFile = join(directory, 'authority.pem')
  writeFileSync(authorityFile, authority.pem)
  const rules = {
    WEBHOOK_ALLOWED_RANGES: `${receiverAddress}/32`,
    WEBHOOK_ALLOWED_PORTS: String(receiver.port),
  }
  const [{ port }] = await Promise.all([
    startWebProcess(t, url, {
      ...rules,
      RECEIPT_KEY: makeReceiptKey(),
      SYNC_WAIT_SECONDS: '120', // so that no wait ends with 408 on a slow machine
    }),
    startWorkerProcess(t, url, { ...rules, WEBHOOK_CA: authorityFile, LANGUAGES: 'python,cpp' }),
  ])
  const { key } = await issueKey(sql, { account: 'docs', tier: 'unlimited' }, 'test')
  const { key: operatorKey } = await issueOperatorKey(sql)
  const hook = `https://${receiverAddress}:${receiver.port}/hook`
  return { sql, url, origin: `http://localhost:${port}`, key, operatorKey, receiver, hook }
}
