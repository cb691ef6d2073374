// Messages of the MCP door: detects which of the protocol's two generations a client speaks, checks messages, and describes
// failures.
//
// Since 2026-07-28 each request carries its version and its client's capabilities, mirrored in headers. Up to 2025-11-25 the
// client declares them once, in `initialize`. Both are served at the same path, without a session.
import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { blame } from '#error'
import type { Problem } from '#error'
import { decode } from '#options'
import type { DoorAnswer } from '../request.ts'

const perRequest = '2026-07-28'
const byHandshake = ['2025-11-25', '2025-06-18']
export const versions = [perRequest, ...byHandshake] as const

const tasks = 'io.modelcontextprotocol/tasks'
export const tasksExtension = { extensions: { [tasks]: {} } }

/** Error codes of JSON-RPC and of MCP. */
export const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  header: -32020,
  capability: -32021,
  version: -32022,
} as const

/** A failure that the protocol itself has a code for. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number
  readonly status: number
  readonly data: object | undefined

  /** @param status the HTTP status. */
  constructor(code: number, message: string, status = 200, data?: object) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

const invalid = (message: string): ProtocolError => new ProtocolError(codes.request, message, 400)

const object = v.record(v.string(), v.unknown())
const messageSchema = v.object({
  jsonrpc: v.literal('2.0'),
  id: v.optional(v.union([v.string(), v.pipe(v.number(), v.integer())])),
  method: v.optional(v.string()),
  params: v.optional(object),
})

export interface Message {
  /** Undefined: the message is a notification. */
  readonly id: string | number | undefined
  /** Undefined: the message is an answer from the client. */
  readonly method: string | undefined
  readonly params: Record<string, unknown>
  readonly meta: Readonly<Record<string, unknown>>
}

/** @throws {ProtocolError} 400. */
export function readMessage(json: unknown): Message {
  if (Array.isArray(json)) throw invalid('Batches are not supported: send one message.')
  const read = v.safeParse(messageSchema, json)
  const isAnswer = read.success && read.output.method === undefined
  if (!read.success || (isAnswer && !('result' in Object(json) || 'error' in Object(json))))
    throw invalid('The body must be a message of JSON-RPC 2.0.')
  const { id, method, params = {} } = read.output
  return { id, method, params, meta: toObject(params['_meta']) }
}

/** Removes the arguments of a tool's call from its message, which lives as long as the answer takes, and returns them. */
export function takeArguments({ params }: Message): unknown {
  const { arguments: given = {} } = params
  delete params['arguments']
  return given
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return v.is(object, value) && !Array.isArray(value) ? value : {}
}

const own = 'io.modelcontextprotocol'

/** True for a request of 2026-07-28. @throws {ProtocolError} for an unknown version, or a header that contradicts it. */
export function isPerRequest(headers: IncomingHttpHeaders, { meta }: Message): boolean {
  const named = headers['mcp-protocol-version']
  const version = meta[`${own}/protocolVersion`] ?? named
  if (version === undefined) return false
  if (typeof version !== 'string')
    throw new ProtocolError(codes.params, `${own}/protocolVersion must be a string.`, 400)
  if (named !== undefined && named !== version)
    throw mismatch('MCP-Protocol-Version', `${own}/protocolVersion of _meta`)
  if (byHandshake.some((one) => one === version)) return false
  if (version !== perRequest)
    throw new ProtocolError(codes.version, 'This version is not supported.', 400, {
      supported: versions,
      requested: version,
    })
  return true
}

/** The parameter that the header `Mcp-Name` must repeat, by method. */
const nameOf: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** Checks the metadata of a request of 2026-07-28. @throws {ProtocolError} 400. */
export function checkMetadata(headers: IncomingHttpHeaders, message: Message): void {
  const { method = '', params, meta } = message
  for (const name of ['protocolVersion', 'clientCapabilities'])
    if (meta[`${own}/${name}`] === undefined)
      throw new ProtocolError(codes.params, `${own}/${name} of _meta is required.`, 400)
  if (headers['mcp-protocol-version'] === undefined)
    throw mismatch('MCP-Protocol-Version', `${own}/protocolVersion of _meta`)
  if (headers['mcp-method'] !== method) throw mismatch('Mcp-Method', 'method')
  const field = nameOf[method]
  if (field !== undefined && decodeHeader(headers['mcp-name']) !== params[field])
    throw mismatch('Mcp-Name', `params.${field}`)
}

function mismatch(header: string, field: string): ProtocolError {
  return new ProtocolError(codes.header, `The header ${header} must be the body’s ${field}.`, 400)
}

function decodeHeader(text: string | readonly string[] | undefined): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(String(text))?.[1]
  return encoded === undefined ? text?.toString() : decode(encoded, 'base64')?.toString()
}

/** True when this request declares tasks. Capabilities hold for one request only. */
export function takesTasks({ meta }: Message): boolean {
  const { extensions } = toObject(meta[`${own}/clientCapabilities`])
  return toObject(extensions)[tasks] !== undefined
}

/** @param id of the request; undefined where it could not be read. */
export function describeFailure(
  { code, message, data }: Pick<ProtocolError, 'code' | 'message' | 'data'>,
  id: Message['id'],
): object {
  return { jsonrpc: '2.0', id, error: { code, message, data } }
}

/** Describes a problem of the API. Its HTTP status serves as the code where JSON-RPC has none. */
export function describeProblem(
  problem: Problem,
  id?: Message['id'],
): DoorAnswer & { readonly body: object } {
  const { fault, retry } = blame(problem.code)
  const { issues, id: submission } = problem.details
  const ofCaller = problem.code === 'invalid_request' ? codes.request : problem.status
  const code = fault === 'platform' ? codes.internal : ofCaller
  const data = { error: problem.code, fault, retry, issues, id: submission }
  return {
    // The client's library shows the error of an answer with status 200; of any other answer it shows the text at most.
    status: id === undefined ? problem.status : 200,
    body: describeFailure({ code, message: problem.message, data }, id),
  }
}
