// The tools of the MCP door: their inputs and outputs, by the API's own schemas, and what a call of each does.
import * as v from 'valibot'
import { cancelSubmission } from '#enqueue'
import { Problem } from '#error'
import type { Issue } from '#error'
import { fields, validate } from '#options'
import { isFinal } from '#result'
import type { TrackedResult } from '#result'
import { described } from '#schema'
import type { HttpContext } from '../http.ts'
import { describeLanguages } from '../languages.ts'
import { describeSchema } from '../openapi.ts'
import { describeProblem, noSubmission, withDeadline } from '../problem.ts'
import { readRecord, waitForEnd } from '../read.ts'
import { describeOrigin, invalidRequest, readIdempotencyKey } from '../request.ts'
import type { ApiRequest } from '../request.ts'
import { answerSchemas } from '../schema.ts'
import { parseSubmission, submissionEntries } from '../submission.ts'
import { receive } from '../receive.ts'
import type { Stored } from '../receive.ts'
import { requireFinal } from '../submit.ts'
import { codes, ProtocolError } from './mcp-message.ts'
import { longestWaitSeconds, notRun } from './run.ts'

/** A call of a tool, with the request that it belongs to. */
interface ToolCall {
  readonly request: ApiRequest
  /** Returns the arguments, once. */
  readonly takeArguments: () => unknown
  /** Fires when the client has hung up. */
  readonly hungUp: AbortSignal
  /** Fires when the client cancels the call; the submission is cancelled then. */
  readonly cancelled: AbortSignal
  /** The answer must be a task. */
  readonly takesTask: boolean
  /** Called when the submission is stored and continues. */
  readonly onStored: (id: string) => void
}

/** A tool's result as the protocol defines it. */
interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: object
  readonly isError: boolean
}

const { language, code, stdin, args, files, env, limits, tests, checker } = submissionEntries

const id = v.pipe(
  v.string('must be a string'),
  v.uuid('must be a UUID'),
  v.description('The id of a run’s record.'),
)

const tools = {
  run_code: {
    title: 'Run a program',
    description:
      'Runs a program in a sandbox without a network and returns its output, exit code, verdict, CPU time and memory. Errors of the program are in stderr, errors of the compiler in compile_output.',
    input: fields({ language, code, stdin, args, files, env, limits }, 'run_code'),
    output: answerSchemas.Result,
  },
  run_tests: {
    title: 'Run a program against tests',
    description:
      'Compiles a program once, runs it once for each test in a sandbox without a network, and returns the verdict of each test: AC is a right answer, WA a wrong one.',
    input: fields({ language, code, tests: v.unwrap(tests), checker }, 'run_tests'),
    output: answerSchemas.Result,
  },
  list_languages: {
    title: 'List the languages',
    description: 'Lists the languages that can be run now, with exact versions and default limits.',
    input: fields({}, 'list_languages'),
    output: answerSchemas.Languages,
  },
  get_result: {
    title: 'Read the result of a run',
    description:
      'Reads the record of an earlier run by its id, at once or, with wait, when the run has ended.',
    input: fields(
      {
        id,
        wait: v.optional(
          described(
            v.boolean('must be true or false'),
            'true: wait until the run has ended, for half a minute at most.',
          ),
        ),
      },
      'get_result',
    ),
    output: answerSchemas.Result,
  },
} as const

type ToolName = keyof typeof tools

/** The tools as tools/list describes them. */
export const describedTools = Object.entries(tools).map(
  ([name, { title, description, input, output }]) => ({
    name,
    title,
    description,
    inputSchema: describeSchema(input),
    outputSchema: describeSchema(output),
    annotations: {
      // A program stays in its box, and its only trace is a record.
      readOnlyHint: !name.startsWith('run_'),
      destructiveHint: false,
      openWorldHint: false,
    },
  }),
)

export function isTool(name: unknown): name is ToolName {
  return typeof name === 'string' && Object.hasOwn(tools, name)
}

/**
 * Calls a tool. Returns a record when the answer is a task, which continues, and null when the client has hung up.
 * @throws {Problem} {ProtocolError} for a failure that is the fault of neither the program nor the arguments.
 */
type CallTool = (
  name: ToolName,
  call: ToolCall,
) => Promise<ToolResult | { readonly task: TrackedResult } | null>

export function createTools(context: HttpContext): CallTool {
  const { database, syncWaitSeconds } = context

  /** Stores a submission, which may have megabytes, and which the call does not keep. @returns the mistakes, if there are any. */
  async function store(
    name: 'run_code' | 'run_tests',
    call: ToolCall,
  ): Promise<Stored | ToolResult> {
    const { request } = call
    const given = call.takeArguments()
    // The tool's schema refuses unknown fields; the API judges everything else.
    const { value: known, issues: unknown } = validate(tools[name].input, given)
    if (known === null) return describeMistakes(unknown)
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    if (keyIssues.length > 0) throw invalidRequest(keyIssues)
    const { value: submission, issues } = await parseSubmission(context, given, request.caller)
    if (submission === null) return describeMistakes(issues)
    // A task is on disk before it is answered.
    return receive(context, { request, submission, idempotencyKey })
  }

  async function follow(call: ToolCall, stored: Stored): ReturnType<CallTool> {
    const { request, hungUp, cancelled } = call
    const { accountId } = request.caller
    if (call.takesTask) return { task: await read(stored.id, accountId) }
    call.onStored(stored.id)
    const gone = AbortSignal.any([hungUp, cancelled])
    const record = await waitForEnd(context, stored.id, accountId, longestWaitSeconds, gone)
    // A submission that another request made can be cancelled only by that request.
    if (cancelled.aborted && stored.kind === 'received') {
      await withDeadline((signal) =>
        cancelSubmission(database, stored.id, accountId, describeOrigin(request), signal),
      )
    }
    if (gone.aborted) return null
    return describeRecord(await requireFinal(context, stored.id, record))
  }

  async function read(of: string, accountId: string): Promise<TrackedResult> {
    const record = await readRecord(database, of, accountId)
    if (record === null) throw noSubmission()
    return record
  }

  async function readResult(
    of: string,
    wait: boolean,
    { request, hungUp }: ToolCall,
  ): Promise<ToolResult | null> {
    const { accountId } = request.caller
    const record = await read(of, accountId)
    if (!wait || isFinal(record)) return describeRecord(record)
    const end = await waitForEnd(context, of, accountId, syncWaitSeconds, hungUp)
    return hungUp.aborted ? null : describeRecord(end ?? record)
  }

  return async (name, call) => {
    if (name === 'run_code' || name === 'run_tests') {
      const stored = await store(name, call)
      return 'content' in stored ? stored : follow(call, stored)
    }
    const given = call.takeArguments()
    if (name === 'get_result') {
      const { value: asked, issues } = validate(tools.get_result.input, given)
      if (asked === null) return describeMistakes(issues)
      return readResult(asked.id, asked.wait ?? false, call).catch(describeNotFound)
    }
    const { value, issues } = validate(tools.list_languages.input, given)
    if (value === null) return describeMistakes(issues)
    return describeAnswer({ languages: await describeLanguages(database) })
  }
}

/** Describes a wrong id as a mistake in the arguments, which the model can correct. */
function describeNotFound(error: unknown): ToolResult {
  if (error instanceof Problem && error.code === 'not_found')
    return describeMistakes([{ path: 'id', message: error.message }])
  throw error
}

/** Describes a record; a failed run is an error for the model. @throws {ProtocolError} when the service is at fault. */
export function describeRecord(record: TrackedResult): ToolResult {
  const { fault, retry, status, verdict } = record
  if (fault === 'platform')
    throw new ProtocolError(codes.internal, notRun, 200, { fault, retry, id: record.id })
  const hasFailed = status === 'cancelled' || (verdict !== null && verdict !== 'AC')
  return describeAnswer(record, hasFailed)
}

function describeAnswer(answer: object, isError = false): ToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: answer,
    isError,
  }
}

/** Describes mistakes in arguments. There is no structured content, because it would have to be a record. */
function describeMistakes(issues: readonly Issue[]): ToolResult {
  const text = JSON.stringify(describeProblem(invalidRequest(issues)))
  return { content: [{ type: 'text', text }], isError: true }
}
