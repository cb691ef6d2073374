// What the ledger says about a submission, for its owner. GET /api/result/{id}/events: its events; only listed fields are shown,
// so that fields that a later release adds stay internal. GET /api/result/{id}/receipt: a signed statement of what ran and its
// result. GET /receipt-key: the key that checks it.
import type { Database } from '#database'
import { Problem } from '#error'
import { readStream } from '#event'
import type { RecordedEvent } from '#event'
import { readReceipt, seal } from '#receipt'
import type { SigningKey } from '#receipt'
import { hasResult, readLimits } from '#result'
import { sendBody, sendJson } from './answer.ts'
import type { HttpContext } from './http.ts'
import { readOwn } from './read.ts'
import { refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

const attemptFields = ['attempt', 'outcome', 'status', 'duration_seconds'] as const

const outcomeFields = [
  'exit_code',
  'signal',
  'compile',
  'run',
  'stdout',
  'stderr',
  'compile_output',
  'limit',
  'score',
  'max_score',
  'tests',
  'files',
] as const

// The list leaves out hosts, workers, keys, and details of a failed sandbox or a webhook's answer.
const shownFields: Readonly<Record<string, readonly string[]>> = {
  'submission.received': [
    'language',
    'code',
    'stdin',
    'expected_stdout',
    'blobs',
    'batch',
    'webhook',
    'tag',
    'priority',
    'rerun_of',
  ],
  'submission.cancel_requested': ['attempt'],
  'submission.cancelled': [...outcomeFields, 'lost'],
  'submission.purged': ['reason'],
  'execution.started': ['attempt', 'language', 'runtime', 'limits', 'isolation'],
  'execution.completed': ['verdict', ...outcomeFields],
  'execution.interrupted': ['reason', 'spends_attempt'],
  'execution.abandoned': ['losses'],
  'webhook.attempt_failed': [...attemptFields, 'next_attempt_at'],
  'webhook.delivered': attemptFields,
  'webhook.abandoned': ['attempts', 'reason'],
  'webhook.replayed': [],
}

/** Answers with the events of the submission and of its webhook, in the order of `position`. */
export function readEvents({ database }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const events = await readOwn(request, async (id, accountId) => {
      if (!(await hasResult(database, id, accountId))) return null
      const own = await readStream(database, id)
      const webhook = own[0]?.data['webhook'] as { id: string } | null | undefined
      return webhook ? [...own, ...(await readStream(database, webhook.id))] : own
    })
    const inOrder = events.toSorted((a, b) => a.position - b.position)
    sendJson(response, 200, { events: inOrder.map(present) })
  }
}

function present({ position, version, type, at, hash, data }: RecordedEvent): object {
  const shown = (shownFields[type] ?? []).flatMap((field) => {
    if (!Object.hasOwn(data, field)) return []
    return [[field, field === 'limits' ? readLimits(data[field]) : data[field]]]
  })
  return { position, version, type, at: at.toISOString(), hash, data: Object.fromEntries(shown) }
}

/** Answers with the receipt of a submission that has ended and whose events match their hashes. */
export function issueReceipt({ database, receiptKey }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    if (receiptKey === null) throw noKey()
    const payload = await readOwn(request, async (id, accountId) => {
      if (!(await hasResult(database, id, accountId))) return null
      await requireWholeChain(database, id)
      const receipt = await readReceipt(database, id)
      if (receipt !== null) return receipt
      throw new Problem(
        'not_final',
        'The submission is not final: its receipt exists only once it is.',
      )
    })
    sendJson(response, 200, seal(payload, receiptKey))
  }
}

/** Answers `GET /receipt-key` with the public key in PEM. */
export function describeReceiptKey(receiptKey: SigningKey | null): Handler {
  const pem = receiptKey?.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  return (_request, response) => {
    if (pem === undefined) throw noKey()
    sendBody(response, 200, 'application/x-pem-file', pem)
  }
}

// Events that were changed by hand must not get the service's signature.
async function requireWholeChain(database: Database, id: string): Promise<void> {
  const broken = await database`select from audit.broken_chain where stream_id = ${id} limit 1`
  if (broken.length > 0) throw new Error(`the events of submission ${id} do not fit their hashes`)
}

function noKey(): Problem {
  return new Problem(
    'not_found',
    'This service signs no receipts: its operator has set no RECEIPT_KEY.',
  )
}
