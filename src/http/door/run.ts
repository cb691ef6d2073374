// Code that doors share: reads a body of any media type, runs a submission to its end, translates limits and languages.
import type { Response } from 'polka'
import type * as v from 'valibot'
import type { TierLimits } from '#account'
import { Problem } from '#error'
import type { Issue } from '#error'
import { defaultLimits, languagesByName } from '#language'
import type { Language } from '#language'
import type { LimitName } from '#options'
import type { TrackedResult } from '#result'
import { sendJson } from '../answer.ts'
import { readBody } from '../body.ts'
import type { HttpContext } from '../http.ts'
import { mostAllowed } from '../relations.ts'
import { hangUpSignal, invalidRequest, readIdempotencyKey } from '../request.ts'
import type { ApiRequest, DoorAnswer, Handler } from '../request.ts'
import { parseSubmission } from '../submission.ts'
import { storeAwaited } from '../submit.ts'

/** The door protocols cannot answer "not yet", so a request waits as long as its client does, up to this limit. */
export const longestWaitSeconds = 900

/** A submission as POST /api/submit takes it, with at least these fields. */
interface Asked {
  readonly language: string
  readonly code: string
  readonly [field: string]: unknown
}

/** A call that runs a program. */
interface RunCall {
  /** The door's name for each field of the API, used in mistakes. */
  readonly names: Readonly<Record<string, string>>
  /** Reads the request. @throws {Problem} */
  readonly read: (request: ApiRequest, response: Response) => Promise<Asked>
  readonly translate: (record: TrackedResult) => object
  /** Describes a record that says nothing about the program. No door may report such a record as a failed program. */
  readonly describeNotRun: (message: string, record: TrackedResult) => DoorAnswer
}

/** Returns the handler that runs a submission to its end, and answers unless the caller hangs up. */
export function runToEnd(context: HttpContext, call: RunCall): Handler {
  const { names, read, translate, describeNotRun } = call

  /** Stores the submission, which is not kept while it runs, because thousands may run for minutes. */
  async function store(request: ApiRequest, response: Response): ReturnType<typeof storeAwaited> {
    const { value, issues } = await parseSubmission(
      context,
      await read(request, response),
      request.caller,
    )
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const all = [...keyIssues, ...issues.map((issue) => rename(issue, names))]
    if (value === null || all.length > 0) throw invalidRequest(all)
    const hungUp = hangUpSignal(response)
    const awaited = { request, submission: value, idempotencyKey, hungUp }
    return storeAwaited(context, { ...awaited, seconds: longestWaitSeconds })
  }

  return async (request, response) => {
    const end = await store(request, response)
    const ended = await end()
    if (ended === null) return
    const { record } = ended
    const message = whyNotRun(record)
    const { status, body } =
      message === null ? { status: 200, body: translate(record) } : describeNotRun(message, record)
    sendJson(response, status, body)
  }
}

export function rename({ path, message }: Issue, names: Readonly<Record<string, string>>): Issue {
  const name = Object.keys(names).find((one) => path === one || path.startsWith(`${one}.`))
  return { path: name === undefined ? path : `${names[name]}${path.slice(name.length)}`, message }
}

/** Joins all mistakes to one text, for protocols that have only a message. @param nameField the door's name of a field. */
export function describeMistakes(
  { message, details: { issues = [] } }: Problem,
  nameField = (path: string): string => path,
): string {
  const texts = issues.map(({ path, message: text }) => {
    const name = nameField(path)
    return name === '' || text.includes(name.split('.', 1)[0] ?? '') ? text : `${name} ${text}`
  })
  return texts.length === 0 ? message : texts.join('; ')
}

/** Reads a JSON body, also one labelled as text, as some clients do. @throws {Problem} when it does not match the schema. */
export async function readDoorBody<Value extends object>(
  request: ApiRequest,
  response: Response,
  schema: v.GenericSchema<unknown, Value>,
): Promise<Value> {
  const type = request.headers['content-type'] ?? 'text/plain'
  if (/^text\/plain/i.test(type)) request.headers['content-type'] = 'application/json'
  return readBody(request, response, schema, [])
}

/** Describes an additional file as a submission has it. */
export function describeFile(name: string, content: Uint8Array): object {
  return { name, content: Buffer.from(content).toString('base64'), encoding: 'base64' }
}

/** Finds a language by its name. @param others the door's names, in addition to ours. */
export function findDoorLanguage(
  name: string,
  others: Readonly<Record<string, Language>>,
): Language | undefined {
  const known = name.toLowerCase()
  return Object.hasOwn(others, known) ? others[known] : languagesByName[known]
}

/**
 * Returns a phase's time limits for a door that may limit only wall time. Then CPU time may be as long as wall time, within the
 * tier, and is at least the language's default.
 * @param seconds of wall time. @param cpu seconds of CPU time, if the door limits it.
 */
export function limitTimes(
  allowed: TierLimits,
  language: Language,
  phase: 'run' | 'compile',
  seconds: number | undefined,
  cpu?: number,
): Partial<Record<LimitName, number>> {
  const usual = defaultLimits[language][phase]
  if (usual === null) return {}
  const mostCpu = mostAllowed('cpu_time', usual, allowed)
  return {
    ...(seconds !== undefined && {
      wall_time: seconds,
      cpu_time: cpu ?? Math.min(Math.max(seconds, usual.cpuSeconds), mostCpu),
    }),
    ...(cpu !== undefined && { cpu_time: cpu }),
  }
}

/** Describes limits as a submission has them. A phase without limits is left out, because a language may have no compiler. */
export function describeLimits(run: object, compile: object = {}): object {
  return {
    ...(Object.keys(run).length > 0 && { limits: run }),
    ...(Object.keys(compile).length > 0 && { compile_limits: compile }),
  }
}

/** Returns a problem for a caller's mistake, in the door's words. */
export function refuse(message: string): Problem {
  return new Problem('invalid_request', message)
}

/** Returns the version in a runtime's name: `3.11.2` of `Python 3.11.2`, and `3.1.2` of `Algol 68 Genie 3.1.2`. */
export function readVersion(runtime: string): string {
  const numbers = runtime.match(/\d[\d.]*/g) ?? []
  return numbers.find((number) => number.includes('.')) ?? numbers[0] ?? '0'
}

export function hasCompiler(language: Language): boolean {
  return defaultLimits[language].compile !== null
}

/** Returns the compiler's exit code, or 1 when it exited with 0 but made no program. */
export function compilerCode({ verdict }: Pick<TrackedResult, 'verdict'>, code: number): number {
  return verdict === 'CE' && code === 0 ? 1 : code
}

/** The message for a record whose fault is the service's. */
export const notRun = 'The service could not run the program: send it again.'

function whyNotRun({ fault, verdict }: TrackedResult): string | null {
  if (fault === 'platform') return notRun
  return verdict === null ? 'The run was cancelled.' : null
}

/** Drops fields that are null or undefined, because these protocols treat null as left out. */
export function dropNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )
}
