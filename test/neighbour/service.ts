// The service under attack: PostgreSQL, a web process and a worker with two slots, all on two cores, however many there are.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Database } from '#database'
import type { Language } from '#language'
import { describeLanguages } from '../../src/http/languages.ts'
import { findStrangers } from '../hostile/residue.ts'
import { createTestDatabase } from '../helper/database.ts'
import { createCaller } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'

export interface Service {
  readonly sql: Database
  readonly port: number
  /** What the worker has logged so far. */
  readonly logged: readonly string[]
  /** Of `languages`, those that are installed here. */
  readonly offered: ReadonlySet<Language>
  /** A key of a new account. */
  createKey(tier: 'beta' | 'unlimited'): Promise<string>
  /** Bytes of the web process that are in memory. */
  webBytes(): number
  /** Processes in the worker's boxes although nothing is to run there. */
  findStrangers(): string[]
}

/** What attacks and their neighbours are written in. */
export const languages = ['python', 'c', 'cpp', 'java', 'javascript', 'go'] as const
const offerSeconds = 30
const slots = 2
/** One box may be cleared away while its successor runs. */
const spares = 1

/** From now on this process and all that it starts have two processors. */
function keepToTwoProcessors(): void {
  const list = /^Cpus_allowed_list:\s*(\S+)/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  const allowed = (list ?? '').split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
  if (allowed.length <= 2) return
  const two = allowed.slice(0, 2).join(',')
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', two, String(process.pid)])
}

/** What the worker offers; what is not there after so long is not installed. */
async function waitForOffered(sql: Database): Promise<ReadonlySet<Language>> {
  for (let waited = 0; ; waited += 1) {
    const offered = await describeLanguages(sql)
    if (offered.length === languages.length || waited === offerSeconds * 10)
      return new Set(offered.map(({ name }) => name as Language))
    await sleep(100)
  }
}

/** Starts it; it ends with the test. */
export async function startService(t: Test): Promise<Service> {
  keepToTwoProcessors()
  const database = await createTestDatabase({ ownServer: true })
  t.teardown(() => database.drop())
  const web = await startWebProcess(t, database.url)
  const firstUid = 2_000_000 + process.pid * 16
  const worker = await startWorkerProcess(t, database.url, {
    SLOTS: String(slots),
    FIRST_UID: String(firstUid),
    LANGUAGES: languages.join(),
    JAVA_RESIDENT_COMPILER: 'on',
    CPP_PRECOMPILED_HEADERS: 'on',
  })
  const uids = new Set(Array.from({ length: 2 * (slots + spares) }, (_, index) => firstUid + index))
  return {
    sql: database.sql,
    port: web.port,
    logged: worker.logged,
    offered: await waitForOffered(database.sql),
    createKey: async (tier) => (await createCaller(database.sql, tier)).key,
    webBytes() {
      const status = readFileSync(`/proc/${web.child.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s*(\d+)/mu.exec(status)?.[1]) * 1024
    },
    findStrangers: () => findStrangers(worker.child.pid ?? 0, uids),
  }
}
