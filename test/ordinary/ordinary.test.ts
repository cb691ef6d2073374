// Ordinary programs run as on an ordinary machine: each behaviour of the table, in each installed language with that
// feature, through the whole service. ORDINARY=pattern runs some.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Language } from '#language'
import { openTestDatabase } from '../helper/database.ts'
import { startServer, untilAvailable } from '../helper/server.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import type { Behaviour } from './behaviour.ts'
import { fileBehaviours } from './file.ts'
import { greedyBehaviours } from './greedy.ts'
import { leastBehaviours } from './least.ts'
import { networkBehaviours } from './network.ts'
import { outputBehaviours } from './output.ts'
import { variableBehaviours } from './variable.ts'
import { whoBehaviours } from './who.ts'

const pattern = new RegExp(process.env['ORDINARY'] ?? '', 'u')
const behaviours: readonly Behaviour[] = [
  ...whoBehaviours,
  ...fileBehaviours,
  ...outputBehaviours,
  ...variableBehaviours,
  ...greedyBehaviours,
  ...networkBehaviours,
  ...leastBehaviours,
].filter(({ name }) => pattern.test(name))
const languages = new Set(behaviours.flatMap(({ programs }) => Object.keys(programs) as Language[]))

const { sql, url } = await openTestDatabase(t)
const worker = await startWorkerProcess(t, url, { LANGUAGES: [...languages].join() })
const server = await startServer(t, sql, { url, syncWaitSeconds: 300 })
const readOffered = async (): Promise<Set<string>> => {
  const rows = await sql`select jsonb_object_keys(languages) as language from runledger.worker`
  return new Set(rows.map((row) => String(row['language'])))
}
/** Counts the languages that the worker has logged as absent, or as broken or failed in their trial. */
function countMissing(): number {
  const missing = worker.lines
    .map((line) => JSON.parse(line) as { msg: string; absent?: string[]; language?: string })
    .flatMap(({ msg, absent = [], language }) => (msg === 'language.missing' ? language : absent))
  return new Set(missing).size
}
// A worker offers its languages one by one, as their trials end.
let offered = await readOffered()
while (offered.size + countMissing() < languages.size) {
  await sleep(200)
  offered = await readOffered()
}
const missing = [...languages].filter((language) => !offered.has(language))
if (process.env['EVERY_LANGUAGE'] === '1') t.strictSame(missing, [], 'every language is installed')
if (missing.length > 0) t.comment(`not installed, and so not looked at: ${missing.join(', ')}`)

/** Enough for each program on a slow machine, unless its request says how much. */
const patient = { cpu_time: 60 }

for (const { name, programs, request, expected } of behaviours)
  t.test(name, async (t) => {
    for (const [language, code] of Object.entries(programs)) {
      if (!offered.has(language)) continue
      const body = { language, code, ...request, limits: { ...patient, ...request?.limits } }
      const { body: record } = await untilAvailable(() =>
        server.call('POST', '/api/submit?wait=true', { body }),
      )
      t.match(record, { verdict: 'AC', exit_code: 0, stderr: '', ...expected }, language)
    }
  })
