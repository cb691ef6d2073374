// GET /api/languages: what can be submitted now, as the live workers report it.
import * as v from 'valibot'
import { sendJson } from './answer.ts'
import { withDeadline } from './deadline.ts'
import type { HttpDependencies } from './http.ts'
import { invalidRequest, readQuery } from './request.ts'
import type { Handler } from './request.ts'
import { languageAliases } from './submission.ts'

const phaseLimits = v.object({
  cpuSeconds: v.number(),
  wallSeconds: v.number(),
  memoryBytes: v.number(),
  processes: v.number(),
  stdoutBytes: v.number(),
  stderrBytes: v.number(),
  diskBytes: v.number(),
})

/** Limits as workers write them, in the log and in their own row. */
const limits = v.object({ compile: v.nullable(phaseLimits), run: phaseLimits })

/** Creates the handler. Empty while no worker lives. */
export function listLanguages({ database }: Pick<HttpDependencies, 'database'>): Handler {
  return async (request, response) => {
    const { issues } = readQuery(request, [])
    if (issues.length > 0) throw invalidRequest(issues)
    const rows = await withDeadline(async () => database`select * from runledger.list_language()`)
    const languages = rows.map((row) => ({
      name: row['name'] as string,
      aliases: Object.entries(languageAliases)
        .filter(([alias, name]) => name === row['name'] && alias !== name)
        .map(([alias]) => alias),
      runtime: row['version'] as string,
      compile: row['compile'] as string[] | null,
      run: row['run'] as string[],
      limits: presentLimits(row['limits']),
    }))
    sendJson(response, 200, { languages })
  }
}

/** Limits in the API's spelling; null when they are not what this release writes. */
export function presentLimits(stored: unknown): object | null {
  const parsed = v.safeParse(limits, stored)
  if (!parsed.success) return null
  const { compile, run } = parsed.output
  return { compile: compile === null ? null : presentPhase(compile), run: presentPhase(run) }
}

function presentPhase(phase: v.InferOutput<typeof phaseLimits>): object {
  return {
    cpu_seconds: phase.cpuSeconds,
    wall_seconds: phase.wallSeconds,
    memory_bytes: phase.memoryBytes,
    processes: phase.processes,
    stdout_bytes: phase.stdoutBytes,
    stderr_bytes: phase.stderrBytes,
    disk_bytes: phase.diskBytes,
  }
}
