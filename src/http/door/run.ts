// What doors share: a body in any media type, a submission that is run to its end, limits and languages by other names.
import type { Response } from 'polka'
import type * as v from 'valibot'
import { Problem } from '#error'
import type { Issue } from '#error'
import { defaultLimits, languagesByName } from '#language'
import type { Language } from '#language'
import type { LimitName } from '#options'
import type { TrackedResult } from '#result'
import { readBody } from '../body.ts'
import type { HttpContext } from '../http.ts'
import { mostAllowed } from '../relations.ts'
import { hangUpSignal, invalidRequest, readIdempotencyKey } from '../request.ts'
import type { ApiRequest } from '../request.ts'
import { submitToEnd } from '../submit.ts'

/** Protocols of doors have no word for "not yet": a caller waits as long as its own client does. */
export const longestWaitSeconds = 900

/** A submission as POST /api/submit takes it, with at least these. */
interface Asked {
  readonly language: string
  readonly code: string
  readonly [field: string]: unknown
}

/**
 * Runs a submission to its end; null when the caller has hung up. It throws {Problem} in the API's words.
 * @param names by field of the API, how the door calls it, for mistakes.
 */
export function createRunner(
  context: HttpContext,
  names: Readonly<Record<string, string>>,
): (request: ApiRequest, response: Response, asked: Asked) => Promise<TrackedResult | null> {
  return async (request, response, asked) => {
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const { value, issues } = await context.parse(asked, request.caller)
    const all = [...keyIssues, ...issues.map((issue) => rename(issue, names))]
    if (value === null || all.length > 0) throw invalidRequest(all)
    const end = await submitToEnd(context, {
      request,
      submission: value,
      idempotencyKey,
      seconds: longestWaitSeconds,
      hungUp: hangUpSignal(response),
    })
    return end?.record ?? null
  }
}

export function rename({ path, message }: Issue, names: Readonly<Record<string, string>>): Issue {
  const name = Object.keys(names).find((one) => path === one || path.startsWith(`${one}.`))
  return { path: name === undefined ? path : `${names[name]}${path.slice(name.length)}`, message }
}

/** All mistakes as one text, for protocols that have a message alone. @param nameField how the door calls it. */
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

/** Some clients call JSON text. @throws {Problem} when it is none, or not of the schema. */
export async function readDoorBody<Value extends object>(
  request: ApiRequest,
  response: Response,
  schema: v.GenericSchema<unknown, Value>,
): Promise<Value> {
  const type = request.headers['content-type'] ?? 'text/plain'
  if (type.startsWith('text/plain')) request.headers['content-type'] = 'application/json'
  return readBody(request, response, schema, [])
}

/** A file beside a program, as a submission has it. */
export function describeFile(name: string, content: Uint8Array): object {
  return { name, content: Buffer.from(content).toString('base64'), encoding: 'base64' }
}

/** @param others the door's names beside ours. */
export function findDoorLanguage(
  name: string,
  others: Readonly<Record<string, Language>>,
): Language | undefined {
  const known = name.toLowerCase()
  return others[known] ?? languagesByName[known]
}

/**
 * The run's limits where a door has but a limit of wall time: a program may compute as long as it may take, within the tier.
 * @param seconds of wall time. @param cpu seconds of CPU time, if the door has them.
 */
export function limitTimes(
  { caller }: ApiRequest,
  language: Language,
  phase: 'run' | 'compile',
  seconds: number | undefined,
  cpu?: number,
): Partial<Record<LimitName, number>> {
  const usual = defaultLimits[language][phase]
  if (usual === null) return {}
  const mostCpu = mostAllowed('cpu_time', usual, caller.limits)
  return {
    ...(seconds !== undefined && {
      wall_time: seconds,
      cpu_time: cpu ?? Math.min(Math.max(seconds, usual.cpuSeconds), mostCpu),
    }),
    ...(cpu !== undefined && { cpu_time: cpu }),
  }
}

/** As a submission has them: of a phase without any it says nothing, as a language may have no compiler. */
export function describeLimits(run: object, compile: object = {}): object {
  return {
    ...(Object.keys(run).length > 0 && { limits: run }),
    ...(Object.keys(compile).length > 0 && { compile_limits: compile }),
  }
}

/** A mistake of the caller's in the door's own words. */
export function refuse(message: string): Problem {
  return new Problem('invalid_request', message)
}

/** The number in a runtime's name: `3.11.2` of `Python 3.11.2`. */
export function readVersion(runtime: string): string {
  return /\d+(?:\.\d+)*/.exec(runtime)?.[0] ?? '0'
}

export function hasCompiler(language: Language): boolean {
  return defaultLimits[language].compile !== null
}

/** The compiler's exit code; 1 where it ended well and there is no program all the same. */
export function compilerCode({ verdict }: Pick<TrackedResult, 'verdict'>, code: number): number {
  return verdict === 'CE' && code === 0 ? 1 : code
}

/** Of a record whose fault is the service's. */
export const notRun = 'The service could not run the program: send it again.'

/** @returns null, or why there is nothing to say of the program: then no door may take it for one that failed. */
export function whyNotRun({ fault, verdict }: TrackedResult): string | null {
  if (fault === 'platform') return notRun
  return verdict === null ? 'The run was cancelled.' : null
}

/** The fields that are given: for these protocols null is as good as left out. */
export function dropNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )
}
