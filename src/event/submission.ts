// submission.*: what a caller sent, without the bytes. batch.*: a batch with a webhook of its own, in a stream of its own; what
// becomes of its submissions stands in theirs.
import { hash } from 'node:crypto'
import type { Language } from '#language'
import type { ExecutionCompleted, ExecutionInterrupted } from './execution.ts'

/** Of a body, whose bytes stand in runledger.body. */
export interface BodyDigest {
  /** Hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

export interface SubmissionReceived {
  readonly type: 'submission.received'
  readonly data: {
    readonly account: string
    readonly api_key: string
    readonly language: Language
    readonly code: BodyDigest
    readonly stdin: BodyDigest
    readonly expected_stdout: BodyDigest | null
    /** Of what was asked beside these, if anything was. */
    readonly detail?: BodyDigest
    /** What its worker must be able to do, of what not every worker can. */
    readonly demands?: readonly string[]
    /** The first of those that it names, each once. */
    readonly blobs?: readonly BodyDigest[]
    /** Of the list of all of them, which is a body. */
    readonly blob_list?: BodyDigest
    /** The submission's own, by phase, as execution.started spells them. */
    readonly limits?: object
    /** Of a program that judges, checker or interactor: it must be offered where the submission runs. */
    readonly checker_language?: Language
    readonly tag?: string
    /** It waits until none waits that is not. */
    readonly priority?: 'low'
    readonly output_encoding?: 'base64'
    /** The first submission, which this one repeats. */
    readonly rerun_of?: string
    /** Of an operator who repeats many. */
    readonly campaign?: string
    /** The stream of its batch, if that has a webhook. */
    readonly batch?: string
    readonly webhook: (WebhookReceiver & { readonly format?: WebhookFormat }) | null
  }
}

/** The delivery's stream and receiver. The URL may hold secrets, so it is a body. */
interface WebhookReceiver {
  readonly id: string
  readonly host: string
}

/** The form of a webhook, if not as Standard Webhooks words it: a PUT of Judge0's fields, without a signature. */
export type WebhookFormat = 'judge0'

interface SubmissionPurged {
  readonly type: 'submission.purged'
  /** caller: at the wish of whoever submitted it. */
  readonly data: { readonly reason: 'retention' | 'caller' }
}

/** Of an attempt that is under way: its worker is to end it. */
interface SubmissionCancelRequested {
  readonly type: 'submission.cancel_requested'
  readonly data: { readonly attempt: number; readonly run: string; readonly worker: string }
}

interface SubmissionCancelled {
  readonly type: 'submission.cancelled'
  /** What had become of the attempt; nothing when none was under way, or that one was lost. */
  readonly data: Partial<Omit<ExecutionCompleted['data'], 'verdict'>> & {
    readonly lost?: ExecutionInterrupted['data']['reason']
  }
}

export type SubmissionEvent =
  SubmissionReceived | SubmissionCancelRequested | SubmissionCancelled | SubmissionPurged

export interface BatchEvent {
  readonly type: 'batch.received'
  readonly data: {
    readonly account: string
    readonly api_key: string
    readonly webhook: WebhookReceiver
    /** Its members: the items that were accepted, in their order. */
    readonly submissions: readonly string[]
  }
}

export function digestBody(body: Uint8Array): BodyDigest {
  return { sha256: hash('sha256', body, 'hex'), bytes: body.byteLength }
}
