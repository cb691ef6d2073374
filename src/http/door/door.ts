// Doors: other services' protocols, so that their clients need nothing but another base URL. Each is a translation in one
// file; keys, limits, queue, log and verdicts behind it are those of the API.
import type { IncomingHttpHeaders } from 'node:http'
import type { Problem } from '#error'
import type { HttpContext, Route } from '../http.ts'
import type { Handler } from '../request.ts'
import { openJobe } from './jobe.ts'
import { openJudge0 } from './judge0.ts'
import { openMcp } from './mcp.ts'
import { openPiston } from './piston.ts'
import { openSandboxFusion } from './sandbox-fusion.ts'

/** An answer in the protocol of a door. */
export interface DoorAnswer {
  readonly status: number
  readonly body: object | string
}

export interface Door {
  readonly routes: readonly Route[]
  /** How a failure looks to the door's clients. */
  readonly describeProblem: (problem: Problem) => DoorAnswer
}

const builders = {
  piston: openPiston,
  sandboxfusion: openSandboxFusion,
  jobe: openJobe,
  judge0: openJudge0,
  mcp: openMcp,
} as const

export type DoorName = keyof typeof builders
export const doorNames = Object.keys(builders) as DoorName[]

/** The doors that are open; the paths of the others do not exist. */
export function openDoors(context: HttpContext): readonly Door[] {
  const { doors = doorNames } = context
  return doors.map((name) => builders[name](context))
}

/** Before the key is looked up: finds it where the door's clients send it, and answers failures in the door's words. */
export function enterDoor({ describeProblem }: Door): Handler {
  return (request, _response, next) => {
    request.describeProblem = describeProblem
    const key = readKey(request.headers)
    if (key !== undefined) request.headers['x-api-key'] = key
    return next()
  }
}

/**
 * `X-API-Key`, `X-Auth-Token`, or `Authorization` with the key alone, as a bearer, or as the password of a URL
 * (`http://user:key@host`), which is all that some clients can be given.
 */
function readKey(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['x-api-key'] ?? headers['x-auth-token']
  if (typeof given === 'string') return given
  const { authorization } = headers
  if (authorization === undefined) return undefined
  const [, kind = '', credentials = ''] = /^(bearer|basic) (\S+)$/i.exec(authorization) ?? []
  if (kind === '') return authorization
  if (kind.toLowerCase() === 'bearer') return credentials
  const [user, password] = Buffer.from(credentials, 'base64').toString().split(':', 2)
  return password === '' ? user : password
}
