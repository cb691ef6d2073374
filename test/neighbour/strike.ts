// Runs one attack beside its neighbours: submits it, cancels it, and inspects the result.
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../faults/load.ts'
import type { Body, NeighbourAttack, Target } from './attack.ts'
import type { Company, Work } from './company.ts'
import type { Service } from './service.ts'

export interface Struck extends Work {
  /** The results of the attacker's own submissions, with the number of each. */
  readonly ended: string
}

const settleSeconds = 20
/** The neighbours continue for so long after the attack, because its leftovers may also affect them. */
const afterMilliseconds = 500
const forbidden = ['worker.suspended', 'worker.lost']
/** A box that got no processor time, because of an attack or of other work on the machine. */
const starved = 'box.starved'

/** Submits, follows to the end, and repeats this until the time is over; then cancels. */
async function submitAgain({ port, key, signal }: Target, body: Body): Promise<void> {
  const headers = { 'X-API-Key': key }
  while (!signal.aborted) {
    const answer = await call(port, 'POST', '/api/submit', headers, body)
    const id = answer.body['id']
    if (typeof id !== 'string') {
      // A refusal is a valid answer to the attacker.
      if (answer.status === 400) throw new Error(`no attack: ${JSON.stringify(answer.body)}`)
      await sleep(200)
      continue
    }
    const path = `/api/result/${id}`
    const over = sleep(60_000, null, { signal }).catch(() => {})
    await Promise.race([over, call(port, 'GET', `${path}?wait=true`, headers)])
    if (signal.aborted) await call(port, 'POST', `${path}/cancel`, headers)
  }
}

/** Returns what is wrong with the attacker's own submissions once the attack is over. */
async function judgeOwn(
  { sql }: Service,
  key: string,
  mayFail: boolean,
): Promise<{ faults: string[]; ended: string }> {
  const digest = sql`sha256(convert_to(${key}, 'UTF8'))`
  const read = () => sql<{ status: string; verdict: string | null; count: number }[]>`
    select r.status, r.verdict, count(*)::integer as count from runledger.submission r
    where r.account_id = (select k.account_id from runledger.api_key k where k.digest = ${digest}) group by 1, 2`
  let rows = await read()
  const isGoing = (): boolean =>
    rows.some(({ status }) => status === 'queued' || status === 'running')
  for (let waited = 0; isGoing() && waited < settleSeconds * 20; waited += 1) {
    await sleep(50)
    rows = await read()
  }
  const ended = rows.map(({ status, verdict, count }) => `${count} ${verdict ?? status}`).join(', ')
  const isWrong =
    isGoing() ||
    rows.some(({ status, verdict }) => status === 'failed' || (verdict === 'IE' && !mayFail))
  return { faults: isWrong ? [`the attacker's submissions: ${ended}`] : [], ended }
}

/** Runs one attack. */
export async function strike(
  service: Service,
  company: Company,
  attack: NeighbourAttack,
): Promise<Struck> {
  const faults: string[] = []
  const key = await service.createKey(attack.tier ?? 'beta')
  const loggedBefore = service.logged.length
  const lossesBefore = (await readLosses(service)).length
  const end = new AbortController()
  const target = { port: service.port, key, signal: end.signal }
  const stopCompany = company.start()
  const acting = [
    ...attack.submissions.map((body) => submitAgain(target, body)),
    ...(attack.act === undefined ? [] : [attack.act(target)]),
  ]
  const ending = Promise.all(acting)
  await Promise.race([
    sleep(attack.seconds * 1000),
    ending.then(() => sleep(60_000, null, { signal: end.signal }).catch(() => {})),
  ])
  if (attack.webBytesMost !== undefined && service.webBytes() > attack.webBytesMost)
    faults.push(`the web process holds ${Math.round(service.webBytes() / 2 ** 20)} MiB`)
  end.abort()
  await ending
  await cancelAll(service, key)
  const own = await judgeOwn(service, key, attack.mayFail)
  await sleep(afterMilliseconds)
  const work = await stopCompany()
  faults.push(...own.faults, ...(await findLeft(service)))
  for (const message of service.logged.slice(loggedBefore))
    if (forbidden.includes(message)) faults.push(`the worker logged ${message}`)
  const losses = (await readLosses(service)).slice(lossesBefore)
  const doubts = losses.filter((step) => step === starved)
  for (const step of losses) if (step !== starved) faults.push(`an attempt was lost: ${step}`)
  return {
    ...work,
    faults: [...work.faults, ...faults],
    doubts: [...work.doubts, ...doubts],
    ended: own.ended,
  }
}

/** Cancels the submissions that requests have left in the queue. */
async function cancelAll({ sql, port }: Service, key: string): Promise<void> {
  const pending = await sql<{ id: string }[]>`
    select p.submission_id as id from runledger.pending p join runledger.api_key k on k.id = p.api_key_id
    where k.digest = sha256(convert_to(${key}, 'UTF8'))`
  for (const { id } of pending)
    await call(port, 'POST', `/api/result/${id}/cancel`, { 'X-API-Key': key })
}

/** Returns the steps at which attempts were lost so far. */
async function readLosses({ sql }: Service): Promise<string[]> {
  const rows = await sql<{ step: string }[]>`
    select coalesce(data ->> 'step', data ->> 'reason') as step from runledger.event
    where type = 'execution.interrupted' order by recorded_at`
  return rows.map(({ step }) => step)
}

/** Returns what is left in the boxes. A box disappears within moments, but freeing what a program has filled takes seconds. */
async function findLeft(service: Service): Promise<string[]> {
  for (let waited = 0; ; waited += 1) {
    const left = service.findStrangers()
    if (left.length === 0 || waited >= settleSeconds * 10) return left
    await sleep(100)
  }
}
