// What operators send: JSON that a schema describes, and no query.
import type { Response } from 'polka'
import * as v from 'valibot'
import { readJson } from '../body.ts'
import { invalidRequest, readQuery } from '../request.ts'
import type { ApiRequest } from '../request.ts'

/** @throws {Problem} 400 with all that is wrong, 415. */
export async function readBody<const Schema extends v.GenericSchema>(
  request: ApiRequest,
  response: Response,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const { issues: queryIssues } = readQuery(request, [])
  const { json, issues: bodyIssues } = await readJson(request, response)
  const issues = [...queryIssues, ...bodyIssues]
  if (issues.length > 0) throw invalidRequest(issues)
  const parsed = v.safeParse(schema, json)
  if (parsed.success) return parsed.output
  throw invalidRequest(
    parsed.issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', message: issue.message })),
  )
}
