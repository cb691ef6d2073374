// What operators send: JSON that a schema describes, and no query.
import type { Response } from 'polka'
import type * as v from 'valibot'
import { shorten, validate } from '#options'
import { readJson } from '../body.ts'
import { invalidRequest, readQuery } from '../request.ts'
import type { ApiRequest } from '../request.ts'

/** @throws {Problem} 400 with all that is wrong, 415. */
export async function readBody<Body extends object>(
  request: ApiRequest,
  response: Response,
  schema: v.GenericSchema<unknown, Body>,
): Promise<Body> {
  const { issues: queryIssues } = readQuery(request, [])
  const { json, issues: bodyIssues } = await readJson(request, response)
  const issues = [...queryIssues, ...bodyIssues]
  if (issues.length > 0) throw invalidRequest(issues)
  const { value, issues: found } = validate(schema, json)
  if (value === null) throw invalidRequest(shorten(found))
  return value
}
