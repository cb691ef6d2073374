// `pause`, `resume`, `drain` and `restart`. An order stands in the worker's row, and is an event.
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { orderWorker } from '#order'
import type { DesiredState } from '#order'
import { CommandError, defineCommand, exitStatuses } from './command.ts'
import type { Command } from './command.ts'
import { withDatabase } from './connect.ts'
import { operator } from './operator.ts'
import { printRows } from './output.ts'
import type { Row } from './output.ts'

const notes = `WORKER is the id of a worker that lives, or the beginning of one alone; \`runledger workers\` lists them. An order holds from
its commit on, also while the database or the worker is away; each is an event that \`runledger audit ID\` tells.`

export const orderCommands = [
  defineOrder('pause', 'paused', 'let a worker finish its programs and take none until `resume`'),
  defineOrder('resume', 'working', 'let a paused worker take programs again'),
  defineOrder('drain', 'drained', 'let a worker finish its programs and exit'),
  defineOrder(
    'restart',
    'restarted',
    'let a worker finish its programs and start again in place, with the languages that are installed then',
  ),
]

/** Exactly one of these. */
export interface Selection {
  readonly worker: string | undefined
  readonly host: string | undefined
  readonly all: boolean
}

interface FoundWorker {
  readonly id: string
  readonly host: string
}

function defineOrder(name: string, wanted: DesiredState, summary: string): Command {
  return defineCommand({
    name,
    operands: ['[WORKER]'],
    summary,
    notes,
    options: {
      host: { type: 'string', value: 'NAME', help: 'every worker of this host instead' },
      all: { type: 'boolean', help: 'every worker instead' },
      json: { type: 'boolean', help: 'JSON lines on a terminal too' },
    },
    run: ({ operands: [worker], values: { host, all, json } }) =>
      withDatabase(async (sql) => {
        const rows = await orderWorkers(sql, { worker, host, all }, wanted, operator())
        printRows(rows, process, json)
        const others = rows.filter((row) => row['wanted'] !== wanted || row['state'] === 'gone')
        return others.length === 0 ? 0 : exitStatuses.failed
      }),
  })
}

/** @returns how each worker stands then. @throws {CommandError} when none fits, or an id's beginning fits several. */
export async function orderWorkers(
  sql: Database,
  selection: Selection,
  wanted: DesiredState,
  who: string,
): Promise<Row[]> {
  const workers = await findWorkers(sql, selection)
  for (const worker of workers) {
    try {
      await orderWorker(sql, worker, wanted, { operator: who })
    } catch (error) {
      if (errorCode(error) !== sqlState.workerGivenUp) throw error // it ended meanwhile
    }
  }
  const rows = await sql`
    select id, host, pid, state, wanted from audit.worker
    where id = any (${workers.map(({ id }) => id)})
    order by started_at`
  return rows.map((row) => ({ ...row }))
}

async function findWorkers(
  sql: Database,
  { worker, host, all }: Selection,
): Promise<readonly FoundWorker[]> {
  if ([worker !== undefined, host !== undefined, all].filter(Boolean).length !== 1)
    throw new CommandError('name one WORKER, or --host NAME, or --all', exitStatuses.usage)
  if (worker !== undefined && !/^[0-9a-f-]{1,36}$/.test(worker))
    throw new CommandError('WORKER is an id, or the beginning of one', exitStatuses.usage)
  const found = await sql<FoundWorker[]>`
    select id, host from audit.worker
    where alive
      and (${worker ?? null}::text is null or starts_with(id::text, ${worker ?? null}))
      and (${host ?? null}::text is null or host = ${host ?? null})
    order by started_at`
  if (found.length === 0) throw new CommandError('there is no such worker')
  if (worker !== undefined && found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ')
    throw new CommandError(`${worker} is the beginning of ${found.length} ids: ${ids}`)
  }
  return found
}
