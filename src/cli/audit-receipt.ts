// `audit receipt FILE` checks a receipt: its signature against public keys, without the service, and its content against
// a ledger, with audit views only. A stranger may have written the receipt, so none of its free text is printed.
import type { Database } from '#database'
import { readStream } from '#event'
import { openEnvelope, readPublicKeys, readReceipt } from '#receipt'
import type { Opened, Receipt, VerifyingKey } from '#receipt'
import type { AuditAnswer } from './audit.ts'
import { CommandError, defineCommand, exitStatuses, flag, misuse, takes } from './command.ts'
import { withDatabase } from './connect.ts'
import { readInput } from './option.ts'

type Open = Extract<Opened, { readonly receipt: Receipt }>

export const receiptCommand = defineCommand({
  name: 'audit receipt',
  operands: ['FILE'],
  summary: 'check a receipt by its signature, or against the ledger',
  notes: 'Exit status 1 if the receipt differs from what was signed, or from the ledger.',
  options: {
    'public-key': takes(
      'FILE',
      'PEM file of the keys that may have signed it, such as the answer of `GET /receipt-key`',
    ),
    ledger: flag('also check the receipt against the ledger'),
  },
  run: async ({ operands: [file = ''], values: { 'public-key': keyFile, ledger } }) => {
    if (keyFile === undefined && !ledger)
      throw misuse(
        'audit receipt: give --public-key FILE, --ledger or both, to check the receipt against',
      )
    const text = readInput('FILE', file)
    const opened = openEnvelope(text, keyFile === undefined ? null : readKeys(keyFile))
    const answers = [describeSignature(opened)]
    if (ledger && 'receipt' in opened)
      answers.push(await withDatabase((sql) => compareWithLedger(sql, opened)))
    for (const line of answers.flatMap(({ lines }) => lines)) process.stdout.write(`${line}\n`)
    return answers.every(({ ok }) => ok) ? 0 : exitStatuses.failed
  },
})

/** Describes the receipt and the result of its signature check. */
function describeSignature(opened: Opened): AuditAnswer {
  if (!('receipt' in opened)) return { ok: false, lines: [refuse(opened)] }
  const { submission, end } = opened.receipt
  const verdict = end.verdict === null ? '' : `, ${end.verdict}`
  const remark =
    opened.kind === 'signed'
      ? `It is unchanged since key ${opened.keyId} signed it.`
      : 'Its signature was not checked: no --public-key was given.'
  return {
    ok: true,
    lines: [`submission ${submission}: ${end.status}${verdict}, at ${end.at}`, remark],
  }
}

function refuse(opened: Exclude<Opened, Open>): string {
  if (opened.kind === 'malformed')
    return 'This is not a receipt, or it is a receipt of a later release.'
  return opened.kind === 'other_key'
    ? 'It is signed by ANOTHER KEY: its keyid is not that of any given key.'
    : `It WAS CHANGED after it was signed, or key ${opened.keyId} did not sign it.`
}

/** Checks that the ledger still says what the receipt says. */
export async function compareWithLedger(
  sql: Database,
  { receipt, bytes }: Open,
): Promise<AuditAnswer> {
  const id = receipt.submission
  const stream = await readStream(sql, id, 'audit.event')
  if (stream.length === 0) return { ok: false, lines: [`The ledger HAS NO submission ${id}.`] }
  const lines = receipt.events.flatMap(({ position, version, type, hash }) => {
    const event = stream.find((one) => one.version === version)
    if (event === undefined) return [`Event ${version} of the receipt IS NOT in the ledger.`]
    return event.hash === hash && event.position === position && event.type === type
      ? []
      : [
          `Event ${version} (${event.type}) IS DIFFERENT in the ledger: its hash there is ${event.hash}.`,
        ]
  })
  const broken = await sql<{ stream_version: number }[]>`
    select stream_version from audit.broken_chain where stream_id = ${id} order by stream_version`
  lines.push(
    ...broken.map(
      ({ stream_version: version }) =>
        `Event ${version} of the ledger DOES NOT FIT its hash: the log was changed by hand.`,
    ),
  )
  const now = await readReceipt(sql, id, 'audit.event')
  if (lines.length === 0 && now?.equals(bytes) !== true)
    lines.push(
      'Its events are those of the ledger, but the rest of its content DIFFERS from the ledger.',
    )
  if (lines.length > 0) return { ok: false, lines }
  return {
    ok: true,
    lines: [`Its ${receipt.events.length} events are in the ledger, and their hashes fit.`],
  }
}

function readKeys(file: string): VerifyingKey[] {
  const keys = readPublicKeys(readInput('--public-key', file))
  if (keys.length > 0) return keys
  throw new CommandError(
    '--public-key: there is no public Ed25519 key in PEM in this file',
    exitStatuses.refused,
  )
}
