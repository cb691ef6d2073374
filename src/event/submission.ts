// submission.*: what a caller sent, without the bytes.
import { createHash } from 'node:crypto'
import type { Language } from '#language'

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
    /** The submission's own, by phase, as execution.started spells them. */
    readonly limits?: object
    readonly tag?: string
    readonly output_encoding?: 'base64'
    /** The delivery's stream and receiver. The URL may hold secrets, so it is a body. */
    readonly webhook: { readonly id: string; readonly host: string } | null
  }
}

export interface SubmissionPurged {
  readonly type: 'submission.purged'
  readonly data: { readonly reason: 'retention' }
}

export type SubmissionEvent = SubmissionReceived | SubmissionPurged

export function digestBody(body: Uint8Array): BodyDigest {
  return { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.byteLength }
}
