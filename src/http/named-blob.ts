// Looks up the blobs that a submission names: all must be there, and their bytes in all are bounded.
import { findBlobs } from '#blob'
import type { Database } from '#database'
import type { Detail } from '#enqueue'
import type { Issue } from '#error'
import { withDeadline } from './deadline.ts'
import type { SubmissionParser } from './offered.ts'
import { addIssues, shorten } from './submission.ts'

/**
 * Each naming counts, as a run reads it again. A worker holds those of one run at a time, 32 MiB at most; this bounds for how
 * long one submission has it read.
 */
const namedBytesMost = 64 * 1024 * 1024

/** A parser that also knows the sizes of the blobs, and refuses those that are not there. Of very many mistakes it tells few. */
export function requireBlobs(parse: SubmissionParser, database: Database): SubmissionParser {
  return async (input, caller) => {
    const parsed = await parse(input, caller)
    const namings = [...listNamings(parsed.detail)]
    if (namings.length === 0) return shorten(parsed)
    const names = new Set(namings.map(({ name }) => name))
    const sizes = await withDeadline(() => findBlobs(database, caller.accountId, names))
    const judged = shorten(addIssues(parsed, judge(namings, sizes)))
    if (judged.value === null) return judged
    const blobs = Array.from(sizes, ([sha256, bytes]) => ({ sha256, bytes }))
    return { ...judged, value: { ...judged.value, blobs } }
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
