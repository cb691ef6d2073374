// The command `mcp`, for agents that start their servers as processes. Each message on stdin is POSTed to the service's /mcp,
// and the answers are printed, one message a line (modelcontextprotocol.io, "stdio").
import { Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import type { Response } from 'undici'
import { parseServiceUrl } from '#client'
import { defineCommand, misuse } from './command.ts'
import { readService, serviceOptions } from './service.ts'

export const mcpCommands = [
  defineCommand({
    name: 'mcp',
    summary: 'serve agents on standard input and output, by the Model Context Protocol',
    notes:
      'An agent’s configuration names this command, and the key’s file or RUNLEDGER_API_KEY. It offers the tools of the service’s\n' +
      'POST /mcp, and ends when its input ends.',
    options: serviceOptions,
    async run({ values }) {
      const { url, apiKey } = readService(values)
      await relay(parseUrl(url), apiKey, process.stdin, process.stdout)
    },
  }),
]

function parseUrl(text: string): URL {
  try {
    return new URL('mcp', parseServiceUrl(text))
  } catch (error) {
    throw misuse((error as Error).message)
  }
}

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: {
    readonly name?: unknown
    readonly taskId?: unknown
    readonly requestId?: unknown
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

/** Relays messages until the input ends; then every request under way is aborted, without an answer. */
export async function relay(
  url: URL,
  apiKey: string,
  input: Readable,
  output: Writable,
): Promise<void> {
  // The timeouts are off, because a program may run for longer than their defaults. Only this command loads undici.
  const { Agent, fetch } = await import('undici')
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const underWay = new Map<unknown, AbortController>()
  // An agent may read the lines by readline, for which one also ends at these characters.
  const print = (message: object): void => {
    const line = JSON.stringify(message)
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029')
    output.write(`${line}\n`)
  }
  /** The session's headers, as the handshake has agreed on them. */
  let agreed: Readonly<Record<string, string>> = {}
  let hasEnded = false

  async function send(line: string, message: Message, signal: AbortSignal): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error', // the key is for this service only
      headers: {
        'X-API-Key': apiKey,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(isPerRequest(message) ? describe(message) : agreed),
      },
      body: line,
      signal,
      dispatcher,
    })
    const session = response.headers.get('mcp-session-id')
    for await (const answer of readAnswers(response)) {
      if (session !== null) agreed = agree(session, answer)
      // The service's refusal of a message that it has not read has no id.
      print('id' in answer || 'method' in answer ? answer : { ...answer, id: message.id })
    }
  }

  async function take(line: string): Promise<void> {
    let message: Message | null
    try {
      message = JSON.parse(line) as Message | null
    } catch {
      print(fail(undefined, -32700, 'The line is not valid JSON.'))
      return
    }
    if (typeof message !== 'object' || message === null) {
      print(fail(undefined, -32600, 'The line is not a message of JSON-RPC 2.0.'))
      return
    }
    // In the protocol version that each request names, a client cancels a request by closing its connection.
    const unwanted = underWay.get(message.params?.requestId)
    if (message.method === 'notifications/cancelled' && unwanted !== undefined) unwanted.abort()
    const controller = new AbortController()
    const own = message.id === undefined ? Symbol('notification') : message.id
    if (message.id === undefined || isPerRequest(message)) underWay.set(own, controller)
    try {
      await send(line, message, controller.signal)
    } catch (error) {
      if (hasEnded || controller.signal.aborted || message.id === undefined) return
      const { message: text, cause } = error as Error
      const why = cause instanceof Error ? cause.message : text
      print(fail(message.id, -32603, `no answer from ${url.origin} (${why})`))
    } finally {
      if (underWay.get(own) === controller) underWay.delete(own)
    }
  }

  // For Node's readline, a line also ends at U+2028 and U+2029, which JSON may hold.
  for await (const line of split(input.setEncoding('utf8'), '\n'))
    if (line.trim() !== '') void take(line)
  hasEnded = true
  for (const controller of underWay.values()) controller.abort()
  await dispatcher.destroy()
}

/** Yields the parts of a text that comes in pieces. */
async function* split(pieces: AsyncIterable<string>, separator: string): AsyncGenerator<string> {
  let text = ''
  for await (const piece of pieces) {
    const parts = (text + piece).split(separator)
    text = parts.pop() ?? ''
    yield* parts
  }
  yield text
}

const versionKey = 'io.modelcontextprotocol/protocolVersion'

/** True for a message of the protocol version in which each request carries all of its context. */
function isPerRequest({ params }: Message): boolean {
  return params?._meta?.[versionKey] !== undefined
}

/** Returns the headers that repeat a request's version, method and name. */
function describe({ method, params }: Message): Record<string, string> {
  const name = params?.name ?? params?.taskId
  return {
    'MCP-Protocol-Version': String(params?._meta?.[versionKey]),
    'Mcp-Method': encode(String(method)),
    ...(typeof name === 'string' && { 'Mcp-Name': encode(name) }),
  }
}

function encode(text: string): string {
  const isPlain = /^[!-~]+$/.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

function agree(session: string, answer: object): Record<string, string> {
  const { result } = answer as { readonly result?: { readonly protocolVersion?: string } }
  const version = result?.protocolVersion
  return {
    'Mcp-Session-Id': session,
    ...(version !== undefined && { 'MCP-Protocol-Version': version }),
  }
}

/** Yields the messages of an answer as they come. @throws {Error} for an answer that is not of the protocol. */
async function* readAnswers(response: Response): AsyncGenerator<object> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    const text = await response.text()
    if (text === '') return
    if (!text.startsWith('{"jsonrpc"'))
      throw new Error(`${response.status}, which is not an answer of the protocol`)
    yield JSON.parse(text) as object
    return
  }
  const body = Readable.from(response.body ?? [], { objectMode: false })
  for await (const event of split(body.setEncoding('utf8'), '\n\n')) {
    const data = /^data: ([^\n]*)/m.exec(event)?.[1]
    if (data !== undefined) yield JSON.parse(data) as object
  }
}

function fail(id: unknown, code: number, message: string): object {
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } }
}
