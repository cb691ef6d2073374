// GET /api/result/{id}/receipt: a signed statement of what ran and its result. GET /receipt-key: the key that checks it.
import type { Database } from '#database'
import { Problem } from '#error'
import { readReceipt, seal } from '#receipt'
import type { SigningKey } from '#receipt'
import { hasResult } from '#result'
import { sendBody, sendJson } from './answer.ts'
import type { HttpContext } from './http.ts'
import { readOwn } from './read.ts'
import { refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

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
