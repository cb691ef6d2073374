// What is told of a submission's end beside its outputs (runledger.output.report): where the output differs, and how each test
// went, and what files the run has left. A worker writes it, whoever reads the result reads it.
import type { Difference } from '#checker'
import { stringifyBytes } from '#event'
import type { ExceededLimit, TestFacts, Verdict } from '#event'
import type { ToldFile } from './told-file.ts'

export { compileEvent, cutBetweenCharacters, nextPosition, outputEvent } from './stream/event.ts'
export type { LiveEvent } from './stream/event.ts'
export { atStage, formatPosition } from './stream/position.ts'
export type { Position } from './stream/position.ts'
export { tellFiles } from './told-file.ts'
export type { ToldFile } from './told-file.ts'

/** Of each output of a test. */
export const keptOutputBytes = 65_536

export interface Report {
  /** Null unless the output is not what was expected. */
  readonly difference: Difference | null
  /** Null without tests. */
  readonly tests: readonly ToldTest[] | null
  /** What the run has left; null when nothing was asked for. */
  readonly files: readonly ToldFile[] | null
  /** In the order of the request; left out without groups. */
  readonly groups?: readonly ToldGroup[]
  /** What the event would say of the tests if they were fewer. It is kept, and nothing reads it. */
  readonly facts?: readonly TestFacts[]
}

/** Seconds and bytes. All is null of one that was not run. */
export interface ToldTest<Output = Uint8Array> {
  readonly name: string | null
  readonly verdict: Verdict | null
  readonly exit_code: number | null
  readonly signal: string | null
  readonly cpu_time: number | null
  readonly wall_time: number | null
  readonly memory_peak: number | null
  /** The beginning of what it wrote. */
  readonly stdout: Output | null
  readonly stderr: Output | null
  /** True when it wrote more than is told. */
  readonly stdout_truncated: boolean | null
  readonly stderr_truncated: boolean | null
  /** The limit that ended it. */
  readonly limit: ExceededLimit | null
  readonly difference: Difference | null
  /** What the checker said. */
  readonly message: string | null
}

/** Of tests, whose points are given when all have passed. */
export interface ToldGroup {
  readonly name: string
  readonly passed: boolean
  readonly score: number
  readonly max_score: number
}

interface KeptReport extends Pick<Report, 'difference' | 'groups'> {
  readonly tests: readonly ToldTest<string>[] | null
  /** Releases before wrote none. */
  readonly files?: readonly ToldFile<string>[] | null
}

const nothing: Report = { difference: null, tests: null, files: null }

/** A test that has ended as streams tell it: JSON with its index, without its outputs. */
export function describeTest(index: number, test: ToldTest<unknown>): string {
  const { stdout: _stdout, stderr: _stderr, ...rest } = test
  return JSON.stringify({ index, ...rest })
}

/** JSON, in which outputs are base64; null when there is nothing to tell. */
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
