// The commands `webhooks …`; webhooks.ts does the work.
import { CommandError, defineCommand, exitStatuses } from './command.ts'
import { withDatabase } from './connect.ts'
import { operator } from './operator.ts'
import { printRows } from './output.ts'
import { commandWebhooks } from './webhooks.ts'
import type { WebhooksRequest } from './webhooks.ts'

export const webhookCommands = [
  defineCommand({
    name: 'webhooks list',
    operands: [],
    summary: 'list deliveries, newest first',
    options: {
      state: {
        type: 'string',
        value: 'STATE',
        help: 'only `waiting`, `pending`, `delivered` or `abandoned` ones',
      },
      limit: { type: 'string', value: 'N', default: '50', help: 'at most so many' },
      json: { type: 'boolean', help: 'JSON lines on a terminal too' },
    },
    run: ({ values: { state, limit, json } }) => answer({ action: 'list', state, limit }, json),
  }),
  defineCommand({
    name: 'webhooks show',
    operands: ['ID'],
    summary: 'show a delivery and its attempts, by its or its submission’s id',
    options: {},
    run: ({ operands: [id] }) => answer({ action: 'show', id }),
  }),
  defineCommand({
    name: 'webhooks replay',
    operands: ['ID'],
    summary: 'send a finished delivery again',
    notes: 'Its secret was deleted when it ended: give it on stdin, `… replay ID < secret-file`.',
    options: {},
    run: ({ operands: [id] }) => answer({ action: 'replay', id }),
  }),
]

async function answer(
  asked: Pick<WebhooksRequest, 'action'> & Partial<WebhooksRequest>,
  json = false,
): Promise<void> {
  const request: WebhooksRequest = {
    id: undefined,
    state: undefined,
    limit: '50',
    operator: operator(),
    stdin: process.stdin,
    ...asked,
  }
  const { rows, lines, complaint, usage } = await withDatabase((sql) =>
    commandWebhooks(sql, request),
  )
  if (complaint !== undefined)
    throw new CommandError(complaint, usage === true ? exitStatuses.usage : exitStatuses.failed)
  if (rows !== undefined) printRows(rows, process, json)
  for (const line of lines) process.stdout.write(`${line}\n`)
}
