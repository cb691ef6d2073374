// The commands `pause`, `resume`, `drain` and `restart`, which go to workers through the operator API.
import { RunledgerError } from '#client'
import type { CommandedWorker, Operator, OrderWord } from '#client'
import { wantedBy } from '#operator'
import { CommandError, defineCommand, exitStatuses, flag, misuse, takes } from './command.ts'
import type { Command } from './command.ts'
import { findId } from './option.ts'
import { printRows } from './output.ts'
import { askOperator, listOptions } from './service.ts'

const notes = `WORKER is the id of a live worker, or a beginning or end that fits no other; \`runledger workers\` lists them. A command applies from
its answer on, also while the worker is unreachable; each is an event in \`runledger audit ID\`.`

export const workerCommands = [
  defineWorkerCommand(
    'pause',
    'let a worker finish its programs and take no others until `resume`',
  ),
  defineWorkerCommand('resume', 'let a paused worker take programs again'),
  defineWorkerCommand('drain', 'let a worker finish its programs and exit'),
  defineWorkerCommand(
    'restart',
    'let a worker finish its programs and start again in place, with the languages that are installed then',
  ),
]

/** The selected workers. Exactly one field is set. */
interface Selection {
  readonly worker?: string | undefined
  readonly host?: string | undefined
  readonly all?: boolean
}

function defineWorkerCommand(name: OrderWord, summary: string): Command {
  return defineCommand({
    name,
    operands: ['[WORKER]'],
    summary,
    notes,
    options: {
      host: takes('NAME', 'every worker of this host instead'),
      all: flag('every worker instead'),
      ...listOptions,
    },
    run: async ({ operands: [worker], values: { host, all, json, ...service } }) => {
      requireOne({ worker, host, all })
      const rows = await askOperator(service, (operator) =>
        commandWorkers(operator, { worker, host, all }, name),
      )
      printRows(rows, process, json)
      return rows.every(({ wanted }) => wanted === wantedBy[name]) ? 0 : exitStatuses.failed
    },
  })
}

/**
 * Sends a command to the selected workers.
 * @returns the state of each worker afterwards.
 * @throws {CommandError} when no worker fits, or a part of an id fits several.
 */
export async function commandWorkers(
  operator: Operator,
  selection: Selection,
  word: OrderWord,
): Promise<CommandedWorker[]> {
  requireOne(selection)
  const rows: CommandedWorker[] = []
  for (const id of await findWorkers(operator, selection)) {
    try {
      rows.push(await operator.order(id, word))
    } catch (error) {
      // The worker has ended meanwhile.
      if (!(error instanceof RunledgerError) || error.status !== 404) throw error
    }
  }
  return rows
}

function requireOne({ worker, host, all = false }: Selection): void {
  if ([worker !== undefined, host !== undefined, all].filter(Boolean).length !== 1)
    throw misuse('name one WORKER, or --host NAME, or --all')
}

async function findWorkers(
  operator: Operator,
  { worker, host, all = false }: Selection,
): Promise<string[]> {
  const { workers } = await operator.overview()
  const alive = workers.filter(({ state }) => state !== 'gone')
  if (worker !== undefined) return [findId(alive, worker, 'worker')]
  const ids = alive.filter((one) => all || one.host === host).map(({ id }) => id)
  if (ids.length === 0) throw new CommandError('there is no such worker')
  return ids
}
