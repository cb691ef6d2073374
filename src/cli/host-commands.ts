// The commands `doctor`, `workers` and `running`, which show the host, the workers and the running submissions.
import { readDoctorConfig } from '#config'
import { readKeptUrl } from './connect.ts'
import { defineCommand, exitStatuses } from './command.ts'
import { flag } from './option.ts'
import { listOptions, printList } from './service.ts'

export const hostCommands = [
  defineCommand({
    name: 'doctor',
    summary: 'check that a worker starts on this host',
    notes: 'Exit status 0: one starts. DATABASE_URL defaults to what `make run` keeps.',
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
      'State: working; suspended, with the failure; paused or draining, by `pause` and `drain`; gone: silent, and not yet given up; with --gone also lost: given up, and drained: it ended by itself.',
    options: { gone: flag('include those that ended in the last day'), ...listOptions },
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
