// The parts of a request that change how its result is shown: whether an output was expected, and whether there was input.
import type { LedgerEvent, SubmissionRequest } from '#client'

export interface Asked {
  /** False: no output was expected, so AC means only that the program finished. */
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

/** Reads the same from a submission's events. @param hasTests as the submission's record has it. */
export function recallAsked(events: readonly LedgerEvent[], hasTests: boolean): Asked {
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

/** True when a program without input failed because it tried to read some. */
export function wantedInput(stderr: string | null, { hasInput }: Asked): boolean {
  return !hasInput && stderr !== null && inputEnded.test(stderr.slice(-4000))
}
