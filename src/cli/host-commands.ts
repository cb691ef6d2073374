// `doctor`, `workers` and `running`: the host, and what is under way.
import { readDoctorConfig } from '#config'
import { defineCommand, exitStatuses } from './command.ts'
import { withDatabase } from './connect.ts'
import { printRows } from './output.ts'
import { listRunning, listWorkers } from './under-way.ts'

const json = { type: 'boolean', help: 'JSON lines on a terminal too' } as const

export const hostCommands = [
  defineCommand({
    name: 'doctor',
    operands: [],
    summary: 'check that this host has what a worker needs',
    options: {},
    run: async () => {
      // Loaded only here: other commands need no executor.
      const { examineHost, formatFindings } = await import('#doctor')
      const { FIRST_UID: firstUid, CACHE_DIRECTORY: cacheDirectory, settings } = readDoctorConfig()
      const findings = await examineHost({ firstUid, cacheDirectory, settings })
      process.stdout.write(`${formatFindings(findings)}\n`)
      return findings.some(({ level }) => level === 'missing') ? exitStatuses.failed : 0
    },
  }),
  defineCommand({
    name: 'workers',
    operands: [],
    summary: 'list the workers: host, state, slots in use, boxes, versions, heartbeat',
    notes:
      'State: working; suspended, with the failure; paused or draining, by `pause` and `drain`; gone: lost, and its lease not yet over.',
    options: {
      gone: { type: 'boolean', help: 'include those that ended in the last day' },
      json,
    },
    run: ({ values }) =>
      withDatabase(async (sql) =>
        printRows(await listWorkers(sql, { withGone: values.gone }), process, values.json),
      ),
  }),
  defineCommand({
    name: 'running',
    operands: [],
    summary: 'list running submissions, longest first: account, worker, time',
    options: { json },
    run: ({ values }) =>
      withDatabase(async (sql) => printRows(await listRunning(sql), process, values.json)),
  }),
]
