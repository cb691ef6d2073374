// What is asked all day long (question.ts), beside the same asked of an all but empty ledger, alternately.
//   node bench/history/beside.ts DIRECTORY [WORD …]
import { v7 as uuidv7 } from 'uuid'
import { createAdmit, issueKey } from '#account'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { wordsAsked } from '../options.ts'
import { report } from '../report.ts'
import { connect, openCluster } from './history.ts'
import { completeWaiting, questions } from './question.ts'
import type { Ledger } from './question.ts'

const worst = 1.2
const [directory = '', ...words] = wordsAsked
await using stack = new AsyncDisposableStack()
const server = await openCluster(directory, true)
stack.defer(() => server.stop())

async function openLedger(name: string, days: number): Promise<Ledger> {
  const sql = connect(server, name)
  stack.defer(() => sql.end({ timeout: 5 }))
  const [account] = await sql<[{ name: string; account_id: string }]>`
    select a.name, c.account_id from bench.caller c join audit.account a on a.id = c.account_id
    where c.number = 0`
  const { key } = await issueKey(sql, { account: account.name, tier: 'unlimited' }, 'bench')
  const caller = await createAdmit(sql)(key)
  if (caller === null) throw new Error('the key that was just issued is not valid')
  const worker = uuidv7()
  await sql`select runledger.register_worker(${worker}, 'bench', 1, 2, '{}', 30)`
  const sample = async (past: number): Promise<string[]> => {
    const rows = await sql<{ id: string }[]>`
      select r.id
      from generate_series(1, 500) n
      cross join lateral (
        select id from runledger.submission r
        where r.account_id = ${account.account_id}
          and r.id >= runledger.uuid_floor(now() - interval '12 hours' - make_interval(days => ${past}) * n / 500)
        order by r.id limit 1
      ) r`
    return rows.map(({ id }) => id)
  }
  return {
    name,
    sql,
    caller,
    recent: await sample(5),
    any: await sample(days),
    worker,
  }
}

const small = await openLedger('small', 9)
const long = await openLedger('long', 195)
let call = 0
const cases: Case[] = questions
  .filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  .flatMap(({ name, calls, prepare, ask }) =>
    [small, long].map((ledger): Case => {
      const floor = `${name}, ${small.name}`
      return {
        name: `${name}, ${ledger.name}`,
        ...(ledger !== small && { floor }),
        iterations: calls,
        prepare: async () => {
          await completeWaiting(ledger)
          await prepare?.(ledger)
        },
        run: async () => {
          call += 1
          await ask(ledger, call)
        },
      }
    }),
  )
const rows = await measure(cases)
for (const ledger of [small, long]) {
  await completeWaiting(ledger)
  await ledger.sql`select runledger.stop_worker(${ledger.worker})`
}
const bounded = questions
  .filter(({ isBounded }) => isBounded)
  .map(({ name }) => `${name}, ${long.name}`)
const slower = rows.filter(
  ({ name, ratio }) => ratio !== null && ratio > worst && !bounded.includes(name),
)
report('history/beside', rows, {
  failures: slower.map(
    ({ name, ratio }) => `${name}: ${ratio?.toFixed(2)} times, more than ${worst}`,
  ),
})
