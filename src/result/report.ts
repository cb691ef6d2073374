// The report of a finished submission, stored beside its outputs (runledger.output.report): where the output differs, the
// result of each test, and the files that the run left behind. A worker writes it; the result's readers decode it.
import type { Difference } from '#checker'
import { digestBody } from '#event'
import type { ResultRecord } from './schema.ts'

export {
  atStage,
  compileEvent,
  cutBetweenCharacters,
  formatPosition,
  nextPosition,
  outputEvent,
} from './stream/event.ts'
export type { LiveEvent } from './stream/event.ts'

/** How many bytes of each output of a test are kept. */
export const keptOutputBytes = 65_536

export interface Report {
  /** Null unless the output differs from the expected output. */
  readonly difference: Difference | null
  /** Null without tests. */
  readonly tests: readonly TestReport[] | null
  /** The requested files that the run left behind; null when none were requested. */
  readonly files: readonly FileReport[] | null
  /** In the order of the request; left out without groups. */
  readonly groups?: readonly GroupReport[]
}

/**
 * One test. Of an output only the beginning is kept; `stdout_truncated` and `stderr_truncated` are then true. For a test that
 * was not run, all fields but its name are null.
 */
export type TestReport<Output = Uint8Array> = Omit<
  NonNullable<ResultRecord['tests']>[number],
  'stdout' | 'stderr'
> &
  Readonly<Record<'stdout' | 'stderr', Output | null>>

/** A group of tests. Its points are given when all of its tests pass. */
export type GroupReport = NonNullable<ResultRecord['groups']>[number]

export type FileReport<Content = Uint8Array> = Omit<
  NonNullable<ResultRecord['files']>[number],
  'content'
> & {
  /** Null when it did not fit after the files before it. */
  readonly content: Content | null
}

/** Converts an executor's files for the report, with their digests. */
export function reportFiles(
  files: readonly Pick<FileReport, 'name' | 'size' | 'content'>[],
): FileReport[] {
  return files.map(({ name, size, content }) => ({
    name,
    size,
    sha256: content === null ? null : digestBody(content).sha256,
    content,
  }))
}

interface KeptReport extends Pick<Report, 'difference' | 'groups'> {
  readonly tests: readonly TestReport<string>[] | null
  readonly files: readonly FileReport<string>[] | null
}

const nothing: Report = { difference: null, tests: null, files: null }

/** Describes a finished test for streams: JSON with the test's index, without its outputs. */
export function describeTest(index: number, test: TestReport<unknown>): string {
  const { stdout: _stdout, stderr: _stderr, ...rest } = test
  return JSON.stringify({ index, ...rest })
}

/** Encodes a report as JSON with outputs in base64; null when there is nothing to report. */
export function encodeReport(report: Report): Buffer | null {
  if (Object.values(report).every((part) => part === null)) return null
  return Buffer.from(stringifyBytes(report))
}

/** Decodes a report. @throws SyntaxError when the bytes are not JSON. */
export function decodeReport(bytes: Uint8Array | null | undefined): Report {
  if (!(bytes instanceof Uint8Array)) return nothing
  const { difference, tests, files, groups } = JSON.parse(
    Buffer.from(bytes).toString(),
  ) as KeptReport
  return {
    difference,
    ...(groups && { groups }),
    tests:
      tests?.map((test) => ({
        ...test,
        stdout: test.stdout === null ? null : Buffer.from(test.stdout, 'base64'),
        stderr: test.stderr === null ? null : Buffer.from(test.stderr, 'base64'),
      })) ?? null,
    files:
      files?.map((file) => ({
        ...file,
        content: file.content === null ? null : Buffer.from(file.content, 'base64'),
      })) ?? null,
  }
}

/** Writes bytes as base64, because a Buffer would otherwise become an object with a number for each byte. */
function stringifyBytes(value: object): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, plain) {
    const own = this[key]
    return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : (plain as unknown)
  })
}
