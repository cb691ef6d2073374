// Puts submissions into a test database as the HTTP routes do, and waits until they end.
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { createAdmit, issueKey } from '#account'
import type { Caller } from '#account'
import { errorCode, sqlState } from '#database'
import type { Database } from '#database'
import { createReceive } from '#enqueue'
import type { Receive, Refusal, Replay, Submission, SubmissionContext } from '#enqueue'
import { createId } from '#id'
import { isFinal, readResult } from '#result'
import type { ResultRecord } from '#result'

/** Issues a key for a new account. @returns the caller of the key. */
export async function createCaller(
  sql: Database,
  tier = 'unlimited',
): Promise<Caller & { key: string }> {
  const { key } = await issueKey(sql, { account: `account ${uuidv7()}`, tier }, 'test')
  const caller = await createAdmit(sql)(key)
  if (caller === null) throw new Error('the key that was just issued is not valid')
  return { ...caller, key }
}

/** Returns a submission with defaults for the fields that a test does not give. */
export function describeSubmission(
  given: { code: string } & Partial<Omit<Submission, 'code' | 'stdin'>> & { stdin?: string },
): Submission {
  const { code, stdin = '', ...rest } = given
  return {
    language: 'python',
    expectedStdout: null,
    options: {},
    tag: null,
    priority: 'normal',
    outputEncoding: 'utf8',
    blobs: [],
    webhook: null,
    ...rest,
    code: Buffer.from(code),
    stdin: Buffer.from(stdin),
  }
}

/** Returns the context of a caller who does not wait, with room in the queue. */
export function describeContext({ apiKeyId, accountId }: Caller): SubmissionContext {
  const requestId = uuidv7()
  return {
    apiKeyId,
    accountId,
    requestId,
    waiter: null,
    durable: true,
    idempotencyKey: null,
    capacity: 1000,
  }
}

export type Receipt = { readonly kind: 'received'; readonly id: string } | Replay | Refusal

/** Receives one submission. */
export async function receiveOne(
  receive: Receive,
  submission: Submission,
  context: SubmissionContext,
  id = createId(),
): Promise<Receipt> {
  const { signal } = new AbortController()
  const outcome = await receive([{ id, submission }], context, signal)
  return outcome.kind === 'received' ? { kind: 'received', id } : outcome
}

/** Repeats a call while a busy machine lets its statement time out, which has written nothing. */
export async function untilInTime<T>(call: () => PromiseLike<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (errorCode(error) !== sqlState.queryCanceled) throw error
    }
  }
}

const receives = new Map<Database, Receive>()

/** Submits, and resolves when it is stored. */
export async function submit(
  sql: Database,
  caller: Caller,
  submission: Submission,
  context: Partial<SubmissionContext> = {},
): Promise<Receipt> {
  const all = { ...describeContext(caller), ...context }
  const receive = receives.get(sql) ?? createReceive(sql)
  receives.set(sql, receive)
  return untilInTime(() => receiveOne(receive, submission, all))
}

/** Submits and returns the id. @throws when the submission was not received. */
export async function submitNew(
  sql: Database,
  caller: Caller,
  submission: Submission,
  context: Partial<SubmissionContext> = {},
): Promise<string> {
  const receipt = await submit(sql, caller, submission, context)
  if (receipt.kind !== 'received') throw new Error(`not received: ${receipt.kind}`)
  return receipt.id
}

/** Resolves with the record once it is final. */
export async function finalResult(sql: Database, id: string, seconds = 240): Promise<ResultRecord> {
  for (let left = seconds * 20; left > 0; left -= 1) {
    const record = await readResult(sql, id)
    if (record !== null && isFinal(record)) return record
    await sleep(50)
  }
  throw new Error(`submission ${id} is not final after ${seconds} s`)
}
