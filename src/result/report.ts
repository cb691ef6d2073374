// The report of a submission's end beside its outputs (runledger.output.report): where the output differs, how each test went,
// and the files that the run has left. A worker writes it; it is read with the result.
import type { Difference } from '#checker'
import { digestBody } from '#event'
import type { TestFacts } from '#event'
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

/** Of each output of a test. */
export const keptOutputBytes = 65_536

export interface Report {
  /** Null unless the output is not what was expected. */
  readonly difference: Difference | null
  /** Null without tests. */
  readonly tests: readonly TestReport[] | null
  /** What the run has left; null when nothing was asked for. */
  readonly files: readonly FileReport[] | null
  /** In the order of the request; left out without groups. */
  readonly groups?: readonly GroupReport[]
  /** What the event would say of the tests if they were fewer. It is kept, and nothing reads it. */
  readonly facts?: readonly TestFacts[]
}

/** Of an output the beginning of what was written, which `stdout_truncated` and `stderr_truncated` say. All is null of one that was not run. */
export type TestReport<Output = Uint8Array> = Omit<
  NonNullable<ResultRecord['tests']>[number],
  'stdout' | 'stderr'
> &
  Readonly<Record<'stdout' | 'stderr', Output | null>>

/** Of tests, whose points are given when all have passed. */
export type GroupReport = NonNullable<ResultRecord['groups']>[number]

export type FileReport<Content = Uint8Array> = Omit<
  NonNullable<ResultRecord['files']>[number],
  'content'
> & {
  /** Null when it did not fit beside those before it. */
  readonly content: Content | null
}

/** @param files as an executor has them. */
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
  /** Releases before wrote none. */
  readonly files?: readonly FileReport<string>[] | null
}

const nothing: Report = { difference: null, tests: null, files: null }

/** A test that has ended as streams have it: JSON with its index, without its outputs. */
export function describeTest(index: number, test: TestReport<unknown>): string {
  const { stdout: _stdout, stderr: _stderr, ...rest } = test
  return JSON.stringify({ index, ...rest })
}

/** JSON, in which outputs are base64; null when there is nothing to report. */
export function encodeReport(report: Report): Buffer | null {
  if (Object.values(report).every((part) => part === null)) return null
  return Buffer.from(stringifyBytes(report))
}

/** @throws SyntaxError when it is no JSON. */
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

/** Bytes stand as base64: a Buffer would otherwise become an object with a number for each byte. */
function stringifyBytes(value: object): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, plain) {
    const own = this[key]
    return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : (plain as unknown)
  })
}
