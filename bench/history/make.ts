// Makes the histories that beside.ts and whole.ts measure.
//   node bench/history/make.ts DIRECTORY [EVENTS]
import { openCluster, makeHistory } from './history.ts'

const [directory, events = '10000000'] = process.argv.slice(2)
if (directory === undefined) {
  process.stderr.write('node bench/history/make.ts DIRECTORY [EVENTS]\n')
  process.exit(64) // EX_USAGE of sysexits
}
const server = await openCluster(directory, false)
try {
  await makeHistory(server, { name: 'small', events: 3000, days: 10 })
  await makeHistory(server, { name: 'middle', events: Number(events) / 30, days: 200 })
  await makeHistory(server, { name: 'long', events: Number(events), days: 200 })
} finally {
  await server.stop()
}
