// The messages on a keeper's socket (channel.c). conversation.ts checks when each may arrive.
import { outputFilesBytesMost, SandboxError } from '#contract'

const kinds = [
  'ready',
  'stdout',
  'stderr',
  'file',
  'result',
  'settled',
  'refused',
  'failed',
  'delayed',
  'dying',
] as const
export type Kind = (typeof kinds)[number]

/** The keeper's longest line (channel.c). */
const lineBytesMost = 1024

export interface Message {
  readonly kind: Kind
  readonly fields: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Takes the first message. @returns null while it is incomplete. @throws {Error} when it is malformed. */
export function takeMessage(bytes: Buffer): (Message & { readonly rest: Buffer }) | null {
  const lineBytes = bytes.indexOf('\n')
  if (lineBytes === -1 && bytes.length < lineBytesMost) return null
  const [word, ...pairs] = bytes.toString('latin1', 0, lineBytes).split(' ')
  const kind = kinds.find((name) => name === word)
  const fields = new Map(pairs.map((pair) => pair.split('=', 2) as [string, string]))
  const bodyBytes = fields.has('bytes') ? readNumber(fields, 'bytes') : 0
  if (lineBytes === -1 || kind === undefined || bodyBytes > outputFilesBytesMost)
    throw new Error('a malformed message')
  const begin = lineBytes + 1
  const end = begin + bodyBytes
  if (bytes.length < end) return null
  return { kind, fields, body: bytes.subarray(begin, end), rest: bytes.subarray(end) }
}

/** Reads a whole number of a message. @throws {SandboxError} step `keeper.protocol` when there is none. */
export function readNumber(fields: Message['fields'], name: string): number {
  const text = fields.get(name) ?? ''
  const number = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new SandboxError('keeper.protocol', `no number "${name}"`)
  return number
}

/** @param values whole numbers, in the order of message.h. */
export function encodeLine(kind: string, values: Readonly<Record<string, number>> = {}): Buffer {
  const fields = Object.entries(values).map(([name, value]) => ` ${name}=${BigInt(value)}`)
  return Buffer.from(`${kind}${fields.join('')}\n`)
}

export const stopMessage = encodeLine('stop')
