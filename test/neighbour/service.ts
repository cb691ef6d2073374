// The service under attack: PostgreSQL, a web process and a worker with two slots, limited to two cores.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Database } from '#database'
import type { Language } from '#language'
import { describeLanguages } from '../../src/http/languages.ts'
import { findStrangers } from '../hostile/residue.ts'
import { openTestDatabase } from '../helper/database.ts'
import { createCaller } from '../helper/submission.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'

export interface Service {
  readonly sql: Database
  readonly port: number
  /** The worker's log messages so far. */
  readonly logged: readonly string[]
  /** The `languages` that are installed on this machine. */
  readonly offered: ReadonlySet<Language>
  /** Creates a new account and returns its key. */
  createKey(tier: 'beta' | 'unlimited'): Promise<string>
  /** Returns the resident bytes of the web process. */
  webBytes(): number
  /** Returns the processes in the worker's boxes that should not run. */
  findStrangers(): string[]
}

/** The languages of the attacks and their neighbours. */
export const languages = ['python', 'c', 'cpp', 'java', 'javascript', 'go'] as const
const offerSeconds = 30
const slots = 2
/** A spare lets one box be cleaned up while its successor runs. */
const spares = 1

/** Limits this process and its later children to two processors. */
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

/** Returns the languages that the worker offers; a language that is missing after the wait is not installed. */
async function waitForOffered(sql: Database): Promise<ReadonlySet<Language>> {
  for (let waited = 0; ; waited += 1) {
    const offered = await describeLanguages(sql)
    if (offered.length === languages.length || waited === offerSeconds * 10)
      return new Set(offered.map(({ name }) => name as Language))
    await sleep(100)
  }
}

/** Starts the service; it ends with the test. */
export async function startService(t: Test): Promise<Service> {
  keepToTwoProcessors()
  const database = await openTestDatabase(t, { ownServer: true })
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
