// The entry to receipts. A receipt states what was run, its result and the hashes of its events. It is signed, so that
// others can check it without asking us. Its form is a DSSE envelope (https://github.com/secure-systems-lab/dsse) around JSON.
export { receiptSchema, readReceipt } from './payload.ts'
export type { Receipt } from './payload.ts'
export { envelopeSchema, openEnvelope, seal } from './envelope.ts'
export type { Envelope, Opened } from './envelope.ts'
export { readPublicKeys, readSigningKey } from './key.ts'
export type { SigningKey, VerifyingKey } from './key.ts'
