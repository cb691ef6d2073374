// GET /api/languages: the languages that live workers report.
import type { Database } from '#database'
import { catalogue } from '#language'
import type { Language, CompleteDefinition } from '#language'
import { readLimits } from '#result'
import { sendJson } from './answer.ts'
import type { HttpContext } from './http.ts'
import { withDeadline } from './problem.ts'
import { refuseQuery } from './request.ts'
import type { Handler } from './request.ts'

interface LanguageRow {
  readonly name: string
  readonly version: string
  readonly compile: readonly string[] | null
  readonly run: readonly string[]
  readonly limits: unknown
  readonly workers: number
}

/** An element of `Languages` in the OpenAPI document. */
interface DescribedLanguage
  extends
    Omit<LanguageRow, 'version'>,
    Pick<CompleteDefinition, 'aliases' | 'extensions' | 'title'> {
  readonly runtime: string
  readonly example: string | null
}

/** Answers with the languages; the list is empty while no worker is live. */
export function listLanguages({ database }: HttpContext): Handler {
  return async (request, response) => {
    refuseQuery(request)
    sendJson(response, 200, { languages: await describeLanguages(database) })
  }
}

export async function describeLanguages(database: Database): Promise<readonly DescribedLanguage[]> {
  const rows = await withDeadline(
    // Two versions may run during a release, so a language is described as its newest worker reports it.
    async () => database<LanguageRow[]>`
      select distinct on (language.key)
        language.key as name, language.value ->> 'version' as version, nullif(language.value -> 'compile', 'null') as compile,
        language.value -> 'run' as run, language.value -> 'limits' as limits,
        count(*) over (partition by language.key) as workers
      from audit.worker w
      cross join lateral jsonb_each(w.languages) language
      where w.stopped_at is null and w.alive and not language.value ? 'awaits_trial'
      order by language.key, w.started_at desc`,
  )
  return rows.map(({ name, version, compile, run, limits: stored, workers }) => {
    // A worker of a later release may offer a language that this process does not know.
    const known: Partial<CompleteDefinition> = catalogue[name as Language] ?? {}
    return {
      name,
      title: known.title ?? name,
      aliases: known.aliases ?? [],
      extensions: known.extensions ?? [],
      runtime: version,
      compile,
      run,
      limits: readLimits(stored),
      example: known.example ?? null,
      workers,
    }
  })
}
