// GET /api/languages: what live workers report that they run.
import * as v from 'valibot'
import { catalogue } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

const phaseLimits = v.object({
  cpu_seconds: v.number(),
  wall_seconds: v.number(),
  memory_bytes: v.number(),
  processes: v.number(),
  stdout_bytes: v.number(),
  stderr_bytes: v.number(),
  disk_bytes: v.number(),
})

/** As workers write them. */
const limits = v.object({ compile: v.nullable(phaseLimits), run: phaseLimits })

interface LanguageRow {
  readonly name: string
  readonly version: string
  readonly compile: readonly string[] | null
  readonly run: readonly string[]
  readonly limits: unknown
  readonly workers: number
}

/** Empty while no worker lives. */
export function listLanguages({ database }: Pick<HttpDependencies, 'database'>): Handler {
  return async (request, response) => {
    refuseQuery(request)
    const rows = await withDeadline(
      async () => database<LanguageRow[]>`select * from runledger.list_language()`,
    )
    const languages = rows.map(({ name, version, compile, run, limits: stored, workers }) => {
      // A worker of a later release may offer what this one does not know.
      const known: Partial<LanguageDefinition> = catalogue[name as Language] ?? {}
      return {
        name,
        title: known.title ?? name,
        aliases: known.aliases ?? [],
        extensions: known.extensions ?? [],
        runtime: version,
        compile,
        run,
        limits: presentLimits(stored),
        example: known.example ?? null,
        workers,
      }
    })
    sendJson(response, 200, { languages })
  }
}

/** Recorded limits; null when this release would not write them so. */
export function presentLimits(stored: unknown): object | null {
  const parsed = v.safeParse(limits, stored)
  return parsed.success ? parsed.output : null
}
