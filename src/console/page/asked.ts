// What was asked for beside a program, as far as it changes how the end is shown: who judged it, and whether it had input.
import type { SubmissionRequest } from '#client'
import type { LogEvent } from './service.ts'

export interface Asked {
  /** False: nothing was expected, so that AC says no more than that it finished. */
  readonly isJudged: boolean
  readonly hasInput: boolean
}

export const usuallyAsked: Asked = { isJudged: true, hasInput: true }

export function readAsked({ tests, expected_stdout: expected, stdin }: SubmissionRequest): Asked {
  const hasTests = tests !== undefined
  return {
    isJudged: hasTests || expected !== undefined,
    hasInput: hasTests || (stdin ?? '') !== '',
  }
}

/** @param hasTests says its record. */
export function recallAsked(events: readonly LogEvent[], hasTests: boolean): Asked {
  const received = events.find(({ type }) => type === 'submission.received')?.data
  if (received === undefined || hasTests || received['blobs'] !== undefined) return usuallyAsked
  const { expected_stdout: expected, stdin, checker_language: checker } = received
  return {
    isJudged: (expected ?? null) !== null || checker !== undefined,
    hasInput: ((stdin as { bytes?: number } | null)?.bytes ?? 0) > 0,
  }
}

const inputEnded =
  /EOFError|NoSuchElementException|EOFException|EndOfStream|End_of_file|UnexpectedEof|unexpected EOF|end of (?:file|input)|No line found/i

/** True of a program that read on where nothing was given. */
export function wantedInput(stderr: string | null, { hasInput }: Asked): boolean {
  return !hasInput && stderr !== null && inputEnded.test(stderr.slice(-4000))
}
