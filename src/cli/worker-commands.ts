// The commands `doctor`, `workers` and `running`, which show this host and the workers; and `pause`, `resume`, `drain` and
// `restart`, which go to workers through the operator API.
import { RunledgerError } from '#client'
import type { CommandedWorker, Operator, OrderWord } from '#client'
import { readDoctorConfig } from '#config'
import { wantedBy } from '#operator'
import { CommandError, defineCommand, exitStatuses, flag, misuse, takes } from './command.ts'
import type { Command } from './command.ts'
import { readKeptUrl } from './connect.ts'
import { findId } from './option.ts'
import { printRows } from './output.ts'
import { askOperator, listOptions, printList } from './service.ts'

export const hostCommands = [
  defineCommand({
    name: 'doctor',
    summary: 'check whether a worker can start on this host',
    notes:
      'Exit status 0: a worker can start. DATABASE_URL defaults to the database of `make run`.',
    run: async () => {
      // Loaded here, because the other commands need no executor.
      const doctor = await import('#doctor')
      const config = readDoctorConfig()
      const findings = [
        ...(await doctor.examineHost({
          firstUid: config.FIRST_UID,
          cacheDirectory: config.CACHE_DIRECTORY,
          settings: config.settings,
          languages: config.LANGUAGES,
        })),
        doctor.examineSettings(),
        await doctor.examineDatabase(config.DATABASE_URL, readKeptUrl),
        ...doctor.examineTls(config.TLS_CERT, config.TLS_KEY),
      ]
      process.stdout.write(`${doctor.formatFindings(findings)}\n`)
      return findings.some(({ level }) => level === 'missing') ? exitStatuses.failed : 0
    },
  }),
  defineCommand({
    name: 'workers',
    summary: 'list the workers: host, state, slots in use, boxes, versions, heartbeat',
    notes:
      'States: working; suspended, with the failure; paused or draining, after `pause` or `drain`; gone: silent, but not yet declared lost.\nWith --gone also lost: declared lost, and drained: ended by itself.',
    options: { gone: flag('include workers that ended in the last day'), ...listOptions },
    run: ({ values: { gone, ...list } }) =>
      printList(list, (operator) => operator.workers({ gone })),
  }),
  defineCommand({
    name: 'running',
    summary: 'list running submissions, longest first: account, worker, time',
    options: listOptions,
    run: ({ values }) => printList(values, (operator) => operator.running()),
  }),
]

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
 * @throws {CommandError} when not one field is set, no worker fits, or a part of an id fits several.
 */
export async function commandWorkers(
  operator: Operator,
  selection: Selection,
  word: OrderWord,
): Promise<CommandedWorker[]> {
  const { worker, host, all = false } = selection
  if ([worker !== undefined, host !== undefined, all].filter(Boolean).length !== 1)
    throw misuse('name one WORKER, or --host NAME, or --all')
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
