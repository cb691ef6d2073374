// Looks up the blobs that a submission names: all must be there, and their bytes in all are bounded.
import { findBlobs } from '#blob'
import type { Database } from '#database'
import type { Detail, Submission } from '#enqueue'
import type { Issue } from '#error'
import { withDeadline } from './deadline.ts'
import type { SubmissionParser } from './offered.ts'
import { shorten } from './submission.ts'

/**
 * Each naming counts, as a run reads it again. A worker holds those of one run at a time, 32 MiB at most; this bounds for how
 * long one submission has it read.
 */
const namedBytesMost = 64 * 1024 * 1024

/** A parser that also knows the sizes of the blobs, and refuses those that are not there. */
export function requireBlobs(parse: SubmissionParser, database: Database): SubmissionParser {
  return async (input, caller) => {
    const parsed = await parse(input, caller)
    if (parsed.value === null) return parsed
    const namings = [...listNamings(parsed.value.detail)]
    if (namings.length === 0) return parsed
    const names = new Set(namings.map(({ name }) => name))
    const sizes = await withDeadline(() => findBlobs(database, caller.accountId, names))
    const issues = judge(namings, sizes)
    if (issues.length > 0) return { value: null, issues: shorten(issues) }
    const blobs = Array.from(sizes, ([sha256, bytes]) => ({ sha256, bytes }))
    return { value: { ...parsed.value, blobs } satisfies Submission, issues: [] }
  }
}

interface Naming {
  readonly path: string
  readonly name: string
}

function* listNamings({ stdinBlob, expectedStdoutBlob, tests = [] }: Detail): Generator<Naming> {
  if (stdinBlob !== undefined) yield { path: 'stdin_sha256', name: stdinBlob }
  if (expectedStdoutBlob !== undefined)
    yield { path: 'expected_stdout_sha256', name: expectedStdoutBlob }
  for (const [index, test] of tests.entries())
    for (const { path, name } of listNamings(test)) yield { path: `tests.${index}.${path}`, name }
}

function judge(namings: readonly Naming[], sizes: ReadonlyMap<string, number>): Issue[] {
  const issues = namings
    .filter(({ name }) => !sizes.has(name))
    .map(({ path }) => ({ path, message: 'names no blob of this account: upload it first' }))
  const bytes = namings.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 0)
  if (bytes > namedBytesMost) {
    const message = `names blobs of ${bytes} bytes in all, each naming counted; at most ${namedBytesMost}`
    issues.push({ path: '', message })
  }
  return issues
}
