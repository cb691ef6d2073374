// The limits in force in an attempt, as the log stores them and callers read them, with the names and units of requests.
import * as v from 'valibot'
import type { Verdict } from '#event'
import { catalogue } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { count, seconds } from '#schema'

const phase = v.object({
  cpu_time: seconds,
  wall_time: seconds,
  memory: count,
  stdout: count,
  stderr: count,
  disk: count,
  processes: count,
})

/** The limits that execution.started stores. */
export const recordedLimits = v.object({ compile: v.nullable(phase), run: phase })

/** The limits of each phase, in seconds and bytes; `compile` is null for a language without a compiler. */
export type AttemptLimits = v.InferOutput<typeof recordedLimits>

/** Returns null when there are no limits, or when they do not have the shape that this release writes. */
export function readLimits(stored: unknown): AttemptLimits | null {
  const parsed = v.safeParse(recordedLimits, stored)
  return parsed.success ? parsed.output : null
}

const mebibyte = 1024 * 1024

/** Explains in words that a program failed because its limits are below what its language's runtime needs; otherwise null. */
export function explainLimits(
  { verdict, language }: { readonly verdict: Verdict | null; readonly language: string },
  limits: AttemptLimits | null,
): string | null {
  if (verdict === null || limits === null || !limitVerdicts.has(verdict)) return null
  // A later release may have run a language that this one does not know.
  const { title, least = {} }: Partial<LanguageDefinition> = catalogue[language as Language] ?? {}
  const { memory = 0, processes = 0 } = least
  const { run } = limits
  const lacks: string[] = []
  const limit = Math.floor(run.memory / mebibyte)
  if (run.memory < memory)
    lacks.push(`${memory / mebibyte} MiB of memory (the limit is ${limit} MiB)`)
  if (run.processes < processes)
    lacks.push(`${processes} processes and threads (the limit is ${run.processes})`)
  return lacks.length === 0 ? null : `${title}'s runtime alone needs some ${lacks.join(', and ')}.`
}

const limitVerdicts: ReadonlySet<Verdict> = new Set(['RE', 'MLE', 'TLE'])
