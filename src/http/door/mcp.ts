// The MCP door: POST /mcp for agents, by the protocol's versions 2026-07-28, 2025-11-25 and 2025-06-18
// (modelcontextprotocol.io, "Streamable HTTP"). It keeps no session. A task is a submission under its own id, so any web
// process can answer for it.
import { randomUUID } from 'node:crypto'
import type { Response } from 'polka'
import { cancelSubmission } from '#enqueue'
import { Problem } from '#error'
import { isUuid } from '#id'
import metadata from '#package' with { type: 'json' }
import { isFinal } from '#result'
import type { TrackedResult } from '#result'
import { readJson } from '../body.ts'
import type { HttpContext } from '../http.ts'
import { toProblem, withDeadline } from '../problem.ts'
import { readRecord, waitForEnd } from '../read.ts'
import { describeOrigin, hangUpSignal } from '../request.ts'
import type { ApiRequest, Handler } from '../request.ts'
import type { Door } from './door.ts'
import {
  checkMetadata,
  codes,
  describeFailure,
  describeProblem,
  isPerRequest,
  ProtocolError,
  readMessage,
  takeArguments,
  takesTasks,
  tasksExtension,
  versions,
} from './mcp-message.ts'
import type { Message } from './mcp-message.ts'
import {
  describeEnd,
  describeTask,
  followProgress,
  resultType,
  sendMessage,
} from './mcp-progress.ts'
import { createTools, describedTools, isTool } from './mcp-tools.ts'

const serverInfo = { name: metadata.name, title: 'Runledger', version: metadata.version }
const instructions =
  'Runs programs in a sandbox, in many languages (list_languages). Each run has an id and is kept: get_result reads it again.'
/** How long an answer about an unfinished task is held back, so that the client need not poll. */
const taskHoldSeconds = 5
/** How long a client may cache the tools, which change only with a release. */
const listMilliseconds = 300_000

interface Incoming {
  readonly message: Message
  readonly request: ApiRequest
  readonly response: Response
}

/** Undefined: the client has hung up. */
type Reply = object | undefined

export function openMcp(context: HttpContext): Door {
  const { database, log, resultStreams, corsOrigins } = context
  const callTool = createTools(context)
  /** Calls in this process that a notification can cancel. */
  const cancellable = new Map<string, AbortController>()

  async function call(incoming: Incoming, perRequest: boolean): Promise<Reply> {
    const { message, request, response } = incoming
    const { name } = message.params
    if (typeof name !== 'string')
      throw new ProtocolError(codes.params, 'params.name must be the name of a tool.')
    if (!isTool(name)) throw new ProtocolError(codes.params, `There is no tool ${name}.`)
    const hungUp = hangUpSignal(response)
    const controller = new AbortController()
    const own = nameCall(request, message.id)
    if (!perRequest && own !== null) cancellable.set(own, controller)
    const takesTask = perRequest && takesTasks(message)
    try {
      const result = await callTool(name, {
        request,
        takeArguments: () => takeArguments(message),
        hungUp,
        // In versions up to 2025-11-25 a client that hangs up cancels nothing.
        cancelled: perRequest ? hungUp : controller.signal,
        takesTask,
        onStored: takesTask ? () => {} : followProgress(resultStreams, message, request, response),
      })
      if (result === null) return undefined
      if (!('task' in result)) return result
      return { ...describeTask(result.task), resultType: 'task' }
    } finally {
      if (own !== null && cancellable.get(own) === controller) cancellable.delete(own)
    }
  }

  async function readTask({ message, request }: Incoming): Promise<TrackedResult> {
    if (!takesTasks(message))
      throw new ProtocolError(codes.capability, 'The client has not declared tasks.', 400, {
        requiredCapabilities: tasksExtension,
      })
    const { taskId } = message.params
    const record =
      typeof taskId === 'string' && isUuid(taskId)
        ? await readRecord(database, taskId, request.caller.accountId)
        : null
    if (record === null) throw new ProtocolError(codes.params, 'There is no such task.')
    return record
  }

  async function getTask(incoming: Incoming): Promise<Reply> {
    const { request, response } = incoming
    const record = await readTask(incoming)
    if (isFinal(record)) return describeEnd(record)
    const { accountId } = request.caller
    const hungUp = hangUpSignal(response)
    const now = await waitForEnd(context, record.id, accountId, taskHoldSeconds, hungUp)
    return hungUp.aborted ? undefined : describeEnd(now ?? record)
  }

  async function cancelTask(incoming: Incoming): Promise<Reply> {
    const { id } = await readTask(incoming)
    const { accountId } = incoming.request.caller
    const by = describeOrigin(incoming.request)
    await withDeadline((signal) => cancelSubmission(database, id, accountId, by, signal))
    return {}
  }

  const listed = { tools: describedTools }
  const byHandshake: Methods = {
    initialize: async ({ message: { params }, response }) => {
      const { protocolVersion: asked } = params
      // The id names this client's requests, so that it cannot cancel another client's. Nothing is stored under it.
      response.setHeader('Mcp-Session-Id', randomUUID())
      const protocolVersion = versions.slice(1).find((one) => one === asked) ?? versions[1]
      return { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions }
    },
    ping: async () => ({}),
    'tools/list': async () => listed,
    'tools/call': async (incoming) => call(incoming, false),
  }
  const perRequest: Methods = {
    'server/discover': async () => ({
      supportedVersions: versions,
      capabilities: { tools: {}, ...tasksExtension },
      instructions,
      ttlMs: listMilliseconds,
      cacheScope: 'public',
    }),
    'tools/list': async () => ({ ...listed, ttlMs: listMilliseconds, cacheScope: 'public' }),
    'tools/call': async (incoming) => call(incoming, true),
    'tasks/get': getTask,
    // No task asks its client anything.
    'tasks/update': async (incoming) => readTask(incoming).then(() => ({})),
    'tasks/cancel': cancelTask,
  }

  async function reply(incoming: Incoming, method: string): Promise<Reply> {
    const { message, request } = incoming
    const isNew = isPerRequest(request.headers, message)
    if (isNew) checkMetadata(request.headers, message)
    const methods = isNew ? perRequest : byHandshake
    const answer = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (answer === undefined)
      throw new ProtocolError(codes.method, 'There is no such method here.', isNew ? 404 : 200)
    const result = await answer(incoming)
    if (!isNew || result === undefined) return result
    return {
      resultType,
      ...result,
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    }
  }

  function take({ message, request }: Incoming): void {
    if (message.method !== 'notifications/cancelled') return
    const cancelled = nameCall(request, message.params['requestId'])
    if (cancelled !== null) cancellable.get(cancelled)?.abort()
  }

  const handler: Handler = async (request, response) => {
    refuseOtherOrigins(request, corsOrigins)
    let id: Message['id']
    try {
      const message = await receiveMessage(request, response)
      const incoming = { message, request, response }
      if (message.id === undefined || message.method === undefined) {
        take(incoming)
        response.writeHead(202).end()
        return
      }
      id = message.id
      request.describeProblem = (problem) => describeProblem(problem, id)
      const result = await reply(incoming, message.method)
      if (result !== undefined) sendMessage(response, 200, { jsonrpc: '2.0', id, result })
      else if (response.headersSent) response.end()
      else response.writeHead(202).end()
    } catch (error) {
      if (error instanceof ProtocolError)
        sendMessage(response, error.status, describeFailure(error, id))
      else if (response.headersSent) endStream(error, id, request, response)
      else throw error
    }
  }

  /** Ends a stream that had already started with a failure. */
  function endStream(
    error: unknown,
    id: Message['id'],
    request: ApiRequest,
    response: Response,
  ): void {
    const problem = toProblem(error)
    request.problem = problem.code
    log.warn({ err: error, request: request.requestId }, `request.${problem.code}`)
    sendMessage(response, 200, describeProblem(problem, id).body)
  }
  return { routes: [['POST', '/mcp', handler]], describeProblem }
}

async function receiveMessage(request: ApiRequest, response: Response): Promise<Message> {
  const { json, issues } = await readJson(request, response)
  if (issues.length > 0) throw new ProtocolError(codes.parse, String(issues[0]?.message), 400)
  return readMessage(json)
}

type Methods = Readonly<Record<string, (incoming: Incoming) => Promise<Reply>>>

/** Names a call by its client's session and id; null without a session, because two clients could use the same id. */
function nameCall({ headers, caller }: ApiRequest, id: unknown): string | null {
  const session = headers['mcp-session-id']
  return session === undefined ? null : JSON.stringify([caller.apiKeyId, session, id])
}

/**
 * Refuses pages of other origins, because a page whose host name was bound to this machine (DNS rebinding) could reach a server
 * that listens only here, such as a relay that adds a key.
 * @param known origins that an operator has allowed.
 */
function refuseOtherOrigins(
  { headers: { origin, host } }: ApiRequest,
  known: readonly string[],
): void {
  if (origin === undefined || known.includes(origin)) return
  if (isLoopback(URL.parse(origin)) && isLoopback(URL.parse(`http://${host}`))) return
  throw new Problem(
    'forbidden',
    'Pages of this origin may not send requests: CORS_ORIGINS does not name the origin.',
  )
}

function isLoopback(url: URL | null): boolean {
  return url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
}
