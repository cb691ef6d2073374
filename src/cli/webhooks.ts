// `webhooks list|show|replay`: deliveries, for operators.
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { validate as isUuid } from 'uuid'
import { json } from '#database'
import type { Database } from '#database'
import { readStream, schemaVersion } from '#event'
import type { Metadata, RecordedEvent } from '#event'
import { makeVisible } from './output.ts'
import type { Row } from './output.ts'

export interface WebhooksRequest {
  readonly action: 'list' | 'show' | 'replay'
  /** A webhook's or its submission's. */
  readonly id: string | undefined
  readonly state: string | undefined
  readonly limit: string
  readonly operator: string
  /** Gives a replay's secret. */
  readonly stdin: Readable & { readonly isTTY?: boolean }
}

/** `usage`: the call itself was wrong. */
export interface WebhooksAnswer {
  readonly rows?: readonly Row[]
  readonly lines: readonly string[]
  readonly complaint?: string
  readonly usage?: boolean
}

const states = ['waiting', 'pending', 'delivered', 'abandoned']

// As in the HTTP API.
const maxSecretBytes = 256

/** A part of audit.webhook. */
interface WebhookRow {
  readonly webhook_id: string
  readonly submission_id: string
  readonly account: string | null
  readonly receiver: string | null
  readonly state: string
  readonly attempts: number
  readonly next_attempt_at: Date | null
  readonly abandoned_because: string | null
}

export async function commandWebhooks(
  sql: Database,
  request: WebhooksRequest,
): Promise<WebhooksAnswer> {
  const { action, id = '' } = request
  if (action === 'list') return list(sql, request)
  const [webhook] = isUuid(id)
    ? await sql<
        WebhookRow[]
      >`select * from audit.webhook where webhook_id = ${id} or submission_id = ${id}`
    : []
  if (webhook === undefined) return complain('there is no webhook under this id')
  return action === 'show' ? show(sql, webhook) : replay(sql, webhook, request)
}

async function list(sql: Database, { state, limit }: WebhooksRequest): Promise<WebhooksAnswer> {
  if (state !== undefined && !states.includes(state))
    return { ...complain(`--state is one of ${states.join(', ')}`), usage: true }
  if (!/^[1-9]\d{0,5}$/.test(limit))
    return { ...complain('--limit is a number from 1 to 999999'), usage: true }
  const rows = await sql`
    select * from audit.webhook
    ${state === undefined ? sql`` : sql`where state = ${state}`}
    order by webhook_id desc
    limit ${Number(limit)}`
  return { rows: rows.map((row) => ({ ...row })), lines: [] }
}

async function show(sql: Database, webhook: WebhookRow): Promise<WebhooksAnswer> {
  const events = await readStream(sql, webhook.webhook_id)
  const { state, attempts, abandoned_because: reason, next_attempt_at: next } = webhook
  const lines = [
    `webhook     ${webhook.webhook_id}`,
    `submission  ${webhook.submission_id}`,
    `account     ${makeVisible(webhook.account)}`,
    `receiver    ${makeVisible(webhook.receiver)}`,
    `state       ${state}${reason === null ? '' : ` (${reason})`}`,
    `attempts    ${attempts}`,
    ...(next === null ? [] : [`next        ${next.toISOString()}`]),
  ]
  return { lines: [...lines, '', ...events.map(describeEvent)] }
}

function describeEvent({ type, at, data, metadata }: RecordedEvent): string {
  const time = at.toISOString()
  const { attempt, outcome, status, duration_seconds: seconds, snippet } = data
  switch (type) {
    case 'webhook.attempt_failed':
    case 'webhook.delivered':
      return [
        `${time}  attempt ${Number(attempt)}`,
        `${makeVisible(outcome)}${status === null ? '' : ` ${Number(status)}`}`,
        `${Number(seconds).toFixed(3)} s`,
        makeVisible(snippet),
      ].join('  ')
    case 'webhook.abandoned':
      return `${time}  abandoned  ${makeVisible(data['reason'])}`
    case 'webhook.replayed':
      return `${time}  replayed   ${JSON.stringify(metadata['actor'])}`
    default:
      return `${time}  ${type}`
  }
}

async function replay(
  sql: Database,
  webhook: WebhookRow,
  { operator, stdin }: WebhooksRequest,
): Promise<WebhooksAnswer> {
  const { webhook_id: id, state } = webhook
  const underWay = `it is ${state === 'waiting' ? 'waiting for its submission to end' : 'still being delivered'}; only one that has ended can be replayed`
  if (!['delivered', 'abandoned'].includes(state)) return complain(underWay)
  const secret = stdin.isTTY === true ? '' : (await text(stdin)).replace(/\r?\n$/, '')
  if (secret === '') {
    return complain(
      'the secret was deleted when the delivery ended: give it on stdin, such as `runledger webhooks replay ID < secret-file`',
    )
  }
  if (Buffer.byteLength(secret) > maxSecretBytes || secret.includes('\0'))
    return complain(`a secret has at most ${maxSecretBytes} bytes, none of them NUL`)
  const metadata: Metadata = { actor: { operator } }
  const [row] = await sql`
    select runledger.replay_delivery(${id}, ${secret}, ${schemaVersion}, ${json(sql, metadata)}) as state`
  // Another operator was faster.
  if (row?.['state'] === 'pending') return complain('it is being delivered again already')
  if (row?.['state'] === 'purged')
    return complain("its address was removed with its submission's bodies, when their time was up")
  return { lines: [JSON.stringify({ webhook: id, replayed: true, was: state })] }
}

function complain(complaint: string): WebhooksAnswer {
  return { lines: [], complaint }
}
