// Looks up the blobs that a submission names: all must exist, and their total size is bounded.
import { findBlobs } from '#blob'
import type { Database } from '#database'
import type { Submission } from '#enqueue'
import type { Issue } from '#error'
import type { Options } from '#options'
import { withDeadline } from './deadline.ts'

/**
 * A blob counts each time that it is named, because each run reads it again. A worker holds the blobs of one run at a time,
 * 32 MiB at most; this limit bounds how long a worker reads for one submission.
 */
const namedBytesMost = 64 * 1024 * 1024

/** Finds the named blobs. @param given fields that are valid by themselves. */
export async function findNamedBlobs(
  database: Database,
  accountId: string,
  given: Options,
): Promise<{ readonly found: Submission['blobs']; readonly issues: readonly Issue[] }> {
  const namings = [...listNamings(given)]
  if (namings.length === 0) return { found: [], issues: [] }
  const names = new Set(namings.map(({ name }) => name))
  const sizes = await withDeadline(() => findBlobs(database, accountId, names))
  const found = Array.from(sizes, ([sha256, bytes]) => ({ sha256, bytes }))
  return { found, issues: judge(namings, sizes) }
}

interface Naming {
  readonly path: string
  readonly name: string
}

function* listNamings({
  tests = [],
  ...given
}: Pick<Options, 'stdin_sha256' | 'expected_stdout_sha256' | 'tests'>): Generator<Naming> {
  for (const path of ['stdin_sha256', 'expected_stdout_sha256'] as const) {
    const name = given[path]
    if (name !== undefined) yield { path, name }
  }
  for (const [index, test] of tests.entries())
    for (const { path, name } of listNamings(test)) yield { path: `tests.${index}.${path}`, name }
}

function judge(namings: readonly Naming[], sizes: ReadonlyMap<string, number>): Issue[] {
  const issues = namings
    .filter(({ name }) => !sizes.has(name))
    .map(({ path }) => ({ path, message: 'names no blob of this account: upload it first' }))
  const bytes = namings.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0)
  if (bytes > namedBytesMost) {
    const message = `names blobs of ${bytes} bytes in all, where a blob counts each time it is named; at most ${namedBytesMost} are allowed`
    issues.push({ path: '', message })
  }
  return issues
}
