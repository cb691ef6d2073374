// A replica for auditors: a hot standby on which the audit views and commands give the same results as on the primary.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createDatabase, errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { bareEnvironment } from '../helper/bare-environment.ts'

const program = resolve(import.meta.dirname, '../../runledger')
const behindSeconds = 10

/** @param url of the replica, with an auditor's login. @returns everything that is not as it must be. */
export async function checkReplica(primary: Database, url: string): Promise<string[]> {
  const replica = createDatabase({ url, connections: 1, name: 'auditor', statementSeconds: 60 })
  const broken: string[] = []
  try {
    const [position] = await primary`select pg_current_wal_lsn()::text as at`
    const endsAt = performance.now() + behindSeconds * 1000
    for (;;) {
      const [row] = await replica`select pg_last_wal_replay_lsn() >= ${position?.['at']}::pg_lsn as "isThere"` // prettier-ignore
      if (row?.['isThere'] === true) break
      if (performance.now() > endsAt) return [`the replica is ${behindSeconds} s behind`]
      await sleep(50)
    }
    const count = (sql: Database) => sql`
      select count(*) as submissions, count(*) filter (where verdict = 'AC') as accepted from audit.submission`
    const [here, there] = [JSON.stringify(await count(primary)), JSON.stringify(await count(replica))] // prettier-ignore
    if (here !== there) broken.push(`the replica's audit.submission: ${there}, the primary's: ${here}`) // prettier-ignore
    const [some] = await replica`select id from audit.submission limit 1`
    for (const words of [['heads'], ['verify'], [String(some?.['id'])]]) {
      const { stdout } = await promisify(execFile)(program, ['audit', ...words], {
        env: { ...bareEnvironment, DATABASE_URL: url },
        maxBuffer: 2 ** 26,
      })
      if (stdout === '') broken.push(`audit ${words[0]} says nothing on the replica`)
    }
    const error = await replica`create temporary table nothing ()`.catch((reason: unknown) => reason) // prettier-ignore
    if (errorCode(error) !== sqlState.readOnly) broken.push('the replica takes writes')
  } catch (error) {
    broken.push(`the replica: ${String(error)} ${String((error as { stderr?: unknown }).stderr)}`)
  } finally {
    await replica.end({ timeout: 2 })
  }
  return broken
}
