// POST /api/operator/workers/{id}/pause, drain, restart and resume: the worker heeds it at its next heartbeat.
import { Problem } from '#error'
import { commandWorker } from '#operator'
import type { CommandedWorker } from '#operator'
import { sendJson } from '../answer.ts'
import { withDeadline } from '../deadline.ts'
import type { HttpContext } from '../http.ts'
import { describeOrigin, isUuid, refuseQuery } from '../request.ts'
import type { Handler } from '../request.ts'

const wantedBy = {
  pause: 'paused',
  drain: 'drained',
  restart: 'restarted',
  resume: 'working',
} as const satisfies Record<string, CommandedWorker['wanted']>

export type CommandWord = keyof typeof wantedBy

export const commandWords = Object.keys(wantedBy) as readonly CommandWord[]

export function giveCommand({ database }: HttpContext, word: CommandWord): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const id = request.params['id'] ?? ''
    const worker = isUuid(id)
      ? await withDeadline((signal) =>
          commandWorker(database, id, wantedBy[word], describeOrigin(request), signal),
        )
      : null
    if (worker === null) throw new Problem('not_found', 'There is no such worker.')
    sendJson(response, 200, worker)
  }
}
