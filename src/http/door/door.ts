// Doors: other services' protocols, so that their clients work with only a new base URL. Each door is a translation; keys,
// limits, queue, log and verdicts behind it are those of the API.
import type { IncomingHttpHeaders } from 'node:http'
import type { Problem } from '#error'
import type { HttpContext, Route } from '../http.ts'
import type { DoorAnswer, Handler } from '../request.ts'
import { openJobe } from './jobe.ts'
import { openJudge0 } from './judge0.ts'
import { openMcp } from './mcp.ts'
import { openPiston } from './piston.ts'
import { openSandboxFusion } from './sandbox-fusion.ts'

export interface Door {
  readonly routes: readonly Route[]
  /** Describes a failure as the door's clients expect it. */
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

/** Opens the configured doors. The paths of all other doors do not exist. */
export function openDoors(context: HttpContext): readonly Door[] {
  return context.doors.map((name) => builders[name](context))
}

/** Runs before the key is looked up. Reads the key from where the door's clients send it, and sets the form of failures. */
export function enterDoor({ describeProblem }: Door): Handler {
  return (request, _response, next) => {
    request.describeProblem = describeProblem
    const key = readKey(request.headers)
    if (key !== undefined) request.headers['x-api-key'] = key
    return next()
  }
}

/**
 * Reads the key from `X-API-Key`, `X-Auth-Token` or `Authorization`. The latter holds the key alone, a bearer token, or the
 * password of a URL (`http://user:key@host`), because some clients can be configured only by a URL.
 */
function readKey(headers: IncomingHttpHeaders): string | undefined {
  // A client may send a header of its own without a value.
  const given = [headers['x-api-key'], headers['x-auth-token']].flat().find(Boolean)
  if (given !== undefined) return given
  const { authorization } = headers
  if (authorization === undefined) return undefined
  const [, kind = '', credentials = ''] = /^(bearer|basic) (\S+)$/i.exec(authorization) ?? []
  if (kind === '') return authorization
  if (kind.toLowerCase() === 'bearer') return credentials
  const [user, password] = Buffer.from(credentials, 'base64').toString().split(':', 2)
  return password === '' ? user : password
}
