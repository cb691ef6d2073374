// The commands `webhooks list`, `show` and `replay`, through the operator API.
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Operator, Webhook, WebhookEvent } from '#client'
import { webhookStates } from '#result'
import { CommandError, defineCommand, takes } from './command.ts'
import { readNumber, readWord } from './option.ts'
import { makeVisible } from './output.ts'
import { askOperator, listOptions, operatorOptions, printList, rephrase } from './service.ts'

// The same limit as in the HTTP API.
const maxSecretBytes = 256

export const webhookCommands = [
  defineCommand({
    name: 'webhooks list',
    summary: 'list deliveries, newest first',
    options: {
      state: takes('STATE', 'only `waiting`, `pending`, `delivered` or `abandoned` ones'),
      limit: takes('N', 'at most this many', { default: '50' }),
      ...listOptions,
    },
    run: async ({ values: { state, limit, ...list } }) => {
      if (state !== undefined) readWord('--state', state, webhookStates)
      const most = readNumber('--limit', limit, 999_999)
      const page = { limit: most, ...(state !== undefined && { state }) }
      await printList(list, (operator) => operator.webhooks(page))
    },
  }),
  defineCommand({
    name: 'webhooks show',
    operands: ['ID'],
    summary:
      'show a delivery and its attempts, by the id of the webhook, its submission or its batch',
    options: operatorOptions,
    run: ({ operands: [id = ''], values }) =>
      askOperator(values, async (operator) => {
        const { webhook, events } = await findWebhook(operator, id)
        for (const line of describeWebhook(webhook, events)) process.stdout.write(`${line}\n`)
      }),
  }),
  defineCommand({
    name: 'webhooks replay',
    operands: ['ID'],
    summary: 'send a finished delivery again',
    notes:
      'The secret was deleted when the delivery ended: give it on stdin, `… replay ID < secret-file`.',
    options: operatorOptions,
    run: ({ operands: [id = ''], values }) =>
      askOperator(values, async (operator) => {
        const answer = await replay(operator, id, process.stdin)
        process.stdout.write(`${JSON.stringify(answer)}\n`)
      }),
  }),
]

/** Finds a webhook by its own id, its submission's or its batch's. @throws {CommandError} when there is none. */
export async function findWebhook(
  operator: Operator,
  id: string,
): Promise<{ readonly webhook: Webhook; readonly events: readonly WebhookEvent[] }> {
  return operator.webhook(id).catch(rephrase({ 404: 'there is no webhook under this id' }))
}

export function describeWebhook(webhook: Webhook, events: readonly WebhookEvent[]): string[] {
  const { state, attempts, abandoned_because: reason, next_attempt_at: next } = webhook
  return [
    `webhook     ${webhook.webhook_id}`,
    webhook.batch_id === null
      ? `submission  ${webhook.submission_id}`
      : `batch       ${webhook.batch_id}`,
    `account     ${makeVisible(webhook.account)}`,
    `receiver    ${makeVisible(webhook.receiver)}`,
    `state       ${state}${reason === null ? '' : ` (${reason})`}`,
    `attempts    ${attempts}`,
    ...(next === null ? [] : [`next        ${next}`]),
    '',
    ...events.map(describeEvent),
  ]
}

function describeEvent({ type, at: time, data, metadata }: WebhookEvent): string {
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
      return `${time}  replayed   ${makeVisible(metadata['actor'])}`
    default:
      return `${time}  ${type}`
  }
}

/** Sends a finished delivery again. @param stdin gives the secret. @throws {CommandError} when it cannot be sent again. */
export async function replay(
  operator: Operator,
  id: string,
  stdin: Readable & { readonly isTTY?: boolean },
): Promise<object> {
  const { state } = (await findWebhook(operator, id)).webhook
  if (!['delivered', 'abandoned'].includes(state))
    throw new CommandError(
      `the delivery is ${state === 'waiting' ? 'waiting for its submission or batch to end' : 'still under way'}; only a delivery that has ended can be replayed`,
    )
  const secret = stdin.isTTY === true ? '' : (await text(stdin)).replace(/\r?\n$/, '')
  if (secret === '')
    throw new CommandError(
      'the secret was deleted when the delivery ended: give it on stdin, such as `runledger webhooks replay ID < secret-file`',
    )
  if (Buffer.byteLength(secret) > maxSecretBytes || secret.includes('\0'))
    throw new CommandError(`a secret must have at most ${maxSecretBytes} bytes, none of them NUL`)
  return operator.replay(id, secret).catch(
    rephrase({
      409: 'the delivery is already being repeated', // another operator was faster
      410: "its address was removed with its submission's bodies, after their retention time",
    }),
  )
}
