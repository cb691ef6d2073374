// The Judge0 CE 1.13 door, under /judge0: submissions alone and in batches. A token is a submission's id.
import type { Response } from 'polka'
import * as v from 'valibot'
import type { Submission } from '#enqueue'
import { blame, Problem } from '#error'
import type { Issue } from '#error'
import { createId } from '#id'
import { messages, shorten, validate } from '#options'
import { listPage, pagedMost, purgeSubmission } from '#result'
import { sendJson } from '../answer.ts'
import type { HttpContext, Route } from '../http.ts'
import { noSubmission, withDeadline } from '../problem.ts'
import { receive, receiveItems } from '../receive.ts'
import {
  describeOrigin,
  hangUpSignal,
  invalidRequest,
  notFound,
  readIdempotencyKey,
} from '../request.ts'
import type { ApiRequest, DoorAnswer, Handler } from '../request.ts'
import { parseSubmission } from '../submission.ts'
import { storeAwaited } from '../submit.ts'
import type { Door } from './door.ts'
import { notUtf8, readAsked, readSubmissions } from './judge0-answer.ts'
import { batchMost, listInfoRoutes } from './judge0-info.ts'
import { judge0Names, judge0Request, translateRequest } from './judge0-request.ts'
import { readDoorBody, refuse, rename } from './run.ts'

const anything = v.looseObject({}, 'the body must be a JSON object')
const batchRequest = v.object(
  { submissions: v.array(v.unknown(), 'must be an array') },
  messages('a batch', 'the body must be a JSON object'),
)

export function openJudge0(context: HttpContext): Door {
  const { database, queueCapacity } = context

  /** Checks one submission, and names its mistakes by Judge0's fields. */
  const check = async (
    input: unknown,
    isBase64: boolean,
    request: ApiRequest,
  ): Promise<{ readonly value: Submission | null; readonly issues: readonly Issue[] }> => {
    const { value: asked, issues } = validate(judge0Request, input)
    if (asked === null) return { value: null, issues }
    const translated = translateRequest(asked, isBase64, request.caller.limits)
    // A field that is already wrong would otherwise be listed twice.
    const wrong = new Set(translated.issues.map(({ path }) => path))
    const parsed = await parseSubmission(context, translated.submission, request.caller)
    const found = parsed.issues
      .map((issue) => rename(issue, judge0Names))
      .filter(({ path }) => !wrong.has(nameField(path)))
    const all = [...translated.issues, ...found]
    return { value: all.length === 0 ? markCallback(parsed.value) : null, issues: all }
  }

  /** Reads and stores a submission, which is not kept. @returns its token, or, with `wait`, the function that waits. */
  async function store(
    request: ApiRequest,
    response: Response,
  ): Promise<string | Awaited<ReturnType<typeof storeAwaited>>> {
    const { isBase64 } = readAsked(request)
    const { idempotencyKey, issues: keyIssues } = readIdempotencyKey(request)
    const body = await readDoorBody(request, response, anything)
    const { value, issues } = await check(body, isBase64, request)
    if (value === null || keyIssues.length > 0) throw invalidRequest([...keyIssues, ...issues])
    const parsed = { request, submission: value, idempotencyKey }
    if (new URLSearchParams(request.search).get('wait') !== 'true')
      return (await receive(context, parsed)).id
    const hungUp = hangUpSignal(response)
    return storeAwaited(context, { ...parsed, seconds: context.syncWaitSeconds, hungUp })
  }

  const create: Handler = async (request, response) => {
    const asked = readAsked(request)
    const stored = await store(request, response)
    if (typeof stored === 'string') {
      sendJson(response, 201, { token: stored })
      return
    }
    const id = await stored().then((end) => end?.record.id, readUnfinished)
    if (id === undefined) return
    const [shown] = await readSubmissions(database, [id], request.caller.accountId, asked).catch(
      (error: unknown) => {
        if (error instanceof Problem && error.message === notUtf8)
          return [{ error: notUtf8, token: id }]
        throw error
      },
    )
    sendJson(response, 201, shown ?? { token: id })
  }

  const createBatch: Handler = async (request, response, next) => {
    if (request.params['token'] !== 'batch') return notFound(request, response, next)
    const { isBase64 } = readAsked(request)
    const { idempotencyKey, issues } = readIdempotencyKey(request)
    if (issues.length > 0) throw invalidRequest(issues)
    const { submissions } = await readDoorBody(request, response, batchRequest)
    judgeCount(submissions.length, batchMost(request.caller, queueCapacity))
    const checked = await Promise.all(submissions.map((one) => check(one, isBase64, request)))
    const items = checked.map(({ value, issues: found }) => ({
      id: createId(),
      ...(value === null
        ? { submission: null, refusal: listByField(shorten(found)) }
        : { submission: value }),
    }))
    const batch = { items, idempotencyKey, webhook: null }
    const received = await receiveItems(context, request, batch)
    const answers = received.answer.submissions.map((one) =>
      'id' in one && typeof one.id === 'string' ? { token: one.id } : one,
    )
    sendJson(response, answers.some((one) => 'token' in one) ? 201 : 422, answers)
  }

  const show: Handler = async (request, response) => {
    const token = request.params['token'] ?? ''
    const asked = readAsked(request)
    const { accountId } = request.caller
    if (token !== 'batch') {
      const [shown] = await readSubmissions(database, [token], accountId, asked)
      if (shown === undefined || shown === null) throw noSubmission()
      sendJson(response, 200, shown)
      return
    }
    const given = request.headers['tokens'] ?? new URLSearchParams(request.search).get('tokens')
    const tokens = String(given ?? '')
      .trim()
      .split(',')
      .filter((one) => one !== '')
    judgeCount(tokens.length, batchMost(request.caller, queueCapacity))
    const submissions = await readSubmissions(database, tokens, accountId, asked)
    sendJson(response, 200, { submissions })
  }

  const list: Handler = async (request, response) => {
    const query = new URLSearchParams(request.search)
    const page = readCount(query, 'page', 1, pagedMost)
    const perPage = readCount(query, 'per_page', 20, 100)
    if (page * perPage > pagedMost) throw refuse(`invalid page: ${page}`)
    const { accountId } = request.caller
    const { ids, total } = await withDeadline(() => listPage(database, accountId, page, perPage))
    const shown = await readSubmissions(database, ids, accountId, readAsked(request))
    const pages = Math.ceil(total / perPage)
    sendJson(response, 200, {
      submissions: shown.filter((one) => one !== null),
      meta: {
        current_page: page,
        next_page: page < pages ? page + 1 : null,
        prev_page: page > 1 ? page - 1 : null,
        total_pages: pages,
        total_count: total,
      },
    })
  }

  const remove: Handler = async (request, response) => {
    const id = request.params['token'] ?? ''
    const { accountId } = request.caller
    const { fields } = readAsked(request)
    // In base64, which can show any text.
    const [shown] = await readSubmissions(database, [id], accountId, { fields, isBase64: true })
    if (shown === undefined || shown === null) throw noSubmission()
    const state = await withDeadline((signal) =>
      purgeSubmission(database, id, accountId, describeOrigin(request), signal),
    )
    if (state === null) throw noSubmission()
    if (state === 'unfinished')
      throw refuse('submission cannot be deleted because it has not ended')
    if (state === 'undelivered')
      throw refuse('submission cannot be deleted because its callback was not delivered yet')
    sendJson(response, 200, shown)
  }

  const routes: Route[] = [
    ['POST', '/judge0/submissions', create],
    ['GET', '/judge0/submissions', list],
    // The pattern of single submissions, because otherwise the path of batches would be counted twice.
    ['POST', '/judge0/submissions/:token', createBatch],
    ['GET', '/judge0/submissions/:token', show],
    ['DELETE', '/judge0/submissions/:token', remove],
    ...listInfoRoutes(context),
  ]
  return { routes, describeProblem }
}

function markCallback(submission: Submission | null): Submission | null {
  if (submission === null || submission.webhook === null) return submission
  return { ...submission, webhook: { ...submission.webhook, format: 'judge0' } }
}

/** Reads the id of a submission that continues after its wait timed out. */
function readUnfinished(error: unknown): string {
  if (error instanceof Problem && error.code === 'timeout' && error.details.id !== undefined)
    return error.details.id
  throw error
}

function judgeCount(count: number, most: number): void {
  if (count === 0) throw refuse('there should be at least one submission in a batch')
  if (count > most)
    throw refuse(`number of submissions in a batch should be less than or equal to ${most}`)
}

function readCount(query: URLSearchParams, name: string, usual: number, most: number): number {
  const text = query.get(name) ?? String(usual)
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > most) throw refuse(`invalid ${name}: ${text.slice(0, 20)}`)
  return value
}

const nameField = (path: string): string => path.split('.', 1)[0] ?? ''

/** Lists mistakes as Rails does: `{"field": ["message"]}`. */
function listByField(issues: readonly Issue[]): Readonly<Record<string, readonly string[]>> {
  const byField = Map.groupBy(issues, ({ path }) => nameField(path))
  return Object.fromEntries(
    Array.from(byField, ([field, found]) => [
      field,
      found.map((issue) => describeIn(field, issue)),
    ]),
  )
}

function describeIn(field: string, { path, message }: Issue): string {
  const place = path.slice(field.length + 1)
  return place === '' ? message : `${place} ${message}`
}

/** Describes mistakes in fields by field with status 422, and any other problem as one text. */
function describeProblem(problem: Problem): DoorAnswer {
  const { issues = [], id } = problem.details
  if (issues.length > 0 && issues.every(({ path }) => path !== '' && path !== 'submissions'))
    return { status: 422, body: listByField(issues) }
  const error = problem.code === 'queue_full' ? 'queue is full' : problem.message
  return { status: problem.status, body: { error, ...blame(problem.code), token: id } }
}
