// The commands `doctor`, `workers` and `running`, which show the host, the workers and the running submissions.
import { readDoctorConfig } from '#config'
import { readKeptUrl } from './connect.ts'
import { defineCommand, exitStatuses, flag } from './command.ts'
import { listOptions, printList } from './service.ts'

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
