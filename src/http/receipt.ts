// GET /api/result/{id}/receipt: what was run and how it ended, signed. GET /receipt-key: what checks the signature.
import type { Database } from '#database'
import { Problem } from '#error'
import { readReceipt, seal } from '#receipt'
import type { SigningKey } from '#receipt'
import { hasResult } from '#result'
import { sendJson, sendText } from './answer.ts'
import type { HttpContext } from './http.ts'
import { readOwn } from './read.ts'
import { refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

/** Only of a submission that has ended, and whose events fit their hashes. */
export function issueReceipt({ database, receiptKey }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    if (receiptKey === null) throw noKey()
    const payload = await readOwn(request, async (id, accountId) => {
      if (!(await hasResult(database, id, accountId))) return null
      await requireWholeChain(database, id)
      return (await readReceipt(database, id)) ?? 'not final'
    })
    if (payload === 'not final')
      throw new Problem('not_final', 'The submission is not final: there is a receipt of its end.')
    sendJson(response, 200, seal(payload, receiptKey))
  }
}

/** `GET /receipt-key`: PEM. */
export function describeReceiptKey(receiptKey: SigningKey | null): Handler {
  const pem = receiptKey?.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  return (_request, response) => {
    if (pem === undefined) throw noKey()
    sendText(response, 200, 'application/x-pem-file', pem)
  }
}

// What was changed by hand must not get our signature.
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
