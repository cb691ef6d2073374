// Judges a run by the submission's own checker: a program that is given the input, the output and the expected output as
// files, and runs in a box like any other. Its exit status is the answer, as with testlib's checkers. Also judges a run with
// an interactor: by which of the two ended first, and then by the interactor's exit status.
import type { Execute, Phase } from '#executor'
import { decodeFiles } from '#options'
import type { CheckerOption } from '#options'
import { judgeEnd, nothingBut } from './verdict.ts'
import type { Judged } from './verdict.ts'

/** The most bytes of a message. */
const messageBytesMost = 1024

export interface CheckerJudgement {
  /**
   * IE: the checker failed, which says nothing of the program. TLE: the submission's total time was used up
   * meanwhile. Null: the check was stopped.
   */
  readonly verdict: 'AC' | 'WA' | 'IE' | 'TLE' | null
  /** What the checker wrote to stderr, or why it failed. */
  readonly message: string
  /** True when the checker does not compile, so that every test has this judgement. */
  readonly isForAll?: true
}

/** testlib's exit statuses: 0 accepted, 1 wrong answer, 2 wrong format; 3 and all others are failures of the checker. */
const verdicts: Readonly<Record<number, 'AC' | 'WA'>> = { 0: 'AC', 1: 'WA', 2: 'WA' }

/** Judges an output by the checker program. @param scope the account for which the compiled checker is kept. */
export async function judgeByProgram(
  checker: Extract<CheckerOption, { type: 'program' }>,
  {
    stdin,
    expectedStdout,
  }: { readonly stdin: Uint8Array; readonly expectedStdout: Uint8Array | null },
  { stdout }: Phase,
  scope: string,
  execute: Execute,
): Promise<CheckerJudgement> {
  const { language, code, compile_args: compileArguments = [], files = [] } = checker
  const given = { input: stdin, output: stdout, answer: expectedStdout ?? new Uint8Array() }
  const { compile, run } = await execute({
    language,
    code: Buffer.from(code),
    compileArguments,
    files: decodeFiles(files),
    runFiles: Object.entries(given).map(([name, content]) => ({ name, content })),
    arguments: Object.keys(given),
    stdin: new Uint8Array(),
    cacheScope: scope,
  })
  const last = run ?? compile
  // Without a run, a checker that compiled was stopped before its run.
  if (last === null || last.ending === 'cancelled' || (run === null && isCompiled(last)))
    return { verdict: null, message: '' }
  if (last.ending === 'total_limit') return { verdict: 'TLE', message: '' }
  if (run === null)
    return {
      verdict: 'IE',
      message: `The checker does not compile: ${said(compile)}`,
      isForAll: true,
    }
  return judgeStatus('checker', run)
}

/**
 * Judges a run with an interactor. When the program failed before the interactor ended, its own failure is the
 * verdict. Otherwise the interactor's exit status is, unless that accepts a program that failed: the interactor's
 * end may have ended the program.
 */
export function judgeInteraction(
  run: Phase,
  { phase, endedFirst, isCompiler }: NonNullable<Phase['interactor']>,
): Judged & { readonly message: string } {
  if (isCompiler === true)
    return { ...nothingBut('IE'), message: `The interactor does not compile: ${said(phase)}` }
  const end = judgeEnd(run)
  if (!endedFirst && end !== null) return { ...end, message: said(phase) }
  if (phase.ending === 'total_limit')
    return { ...nothingBut('TLE'), limit: 'total_time', message: said(phase) }
  const { verdict, message } = judgeStatus('interactor', phase)
  return verdict === 'AC' && end !== null
    ? { ...end, message }
    : { ...nothingBut(verdict), message }
}

/** Judges by the exit status of a checker or interactor. */
function judgeStatus(
  name: 'checker' | 'interactor',
  run: Phase,
): { readonly verdict: 'AC' | 'WA' | 'IE'; readonly message: string } {
  const { ending, exitCode } = run
  const verdict = ending === 'exited' ? verdicts[exitCode] : undefined
  if (verdict !== undefined) return { verdict, message: said(run) }
  const message = `The ${name} ${describeEnd(run)}: ${said(run)}`
  return { verdict: 'IE', message: message.slice(0, messageBytesMost).replace(/: $/, '') }
}

/** Says how a checker or interactor failed, in the words of a record. */
function describeEnd(run: Phase): string {
  const limit = judgeEnd(run)?.limit ?? null
  if (limit !== null) return `exceeded its limit ${limit}`
  return run.signal === null ? `exited with ${run.exitCode}` : `was ended by ${run.signal}`
}

/** Returns the beginning of a phase's stderr. */
function said(phase: Phase | null): string {
  return Buffer.from(phase?.stderr.subarray(0, messageBytesMost) ?? []).toString()
}

function isCompiled({ ending, exitCode }: Phase): boolean {
  return ending === 'exited' && exitCode === 0
}
