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
    summary: 'check this host for what the worker needs',
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
    summary: 'list the workers: host, state, slots and busy ones, boxes, versions, heartbeat',
    notes:
      'State: working; suspended, and what failed; paused or draining, as `pause` and `drain` want it; gone: lost, and not yet\ngiven up by the others.',
    options: {
      gone: { type: 'boolean', help: 'those that ended in the last day too' },
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
    summary: 'list what runs now, longest first: whose it is, where, for how long',
    options: { json },
    run: ({ values }) =>
      withDatabase(async (sql) => printRows(await listRunning(sql), process, values.json)),
  }),
]
