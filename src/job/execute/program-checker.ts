// Judges by a submission's own checker: a program that is given the input, the output and the expected one as files, runs in a
// box like any other, and its exit status is the answer, as with testlib's checkers. And a program that spoke with an
// interactor: by who broke off first, and then by the interactor's word.
import type { Execute, Phase } from '#executor'
import { decodeFiles } from '#options'
import type { CheckerOption } from '#options'
import { judgeEnd, nothingBut } from './verdict.ts'
import type { Judged } from './verdict.ts'

/** Of what it says. */
const messageBytesMost = 1024

export interface CheckerJudgement {
  /**
   * IE: the checker failed, which says nothing of the program. TLE: all that the submission may run was used up meanwhile.
   * Null: it was stopped.
   */
  readonly verdict: 'AC' | 'WA' | 'IE' | 'TLE' | null
  /** What it wrote to stderr, or why it failed. */
  readonly message: string
  /** It would be for every test: the checker does not compile. */
  readonly isForAll?: true
}

/** testlib: 0 accepted, 1 wrong, 2 wrong by its form; 3 and all else are failures of its own. */
const verdicts: Readonly<Record<number, 'AC' | 'WA'>> = { 0: 'AC', 1: 'WA', 2: 'WA' }

/** @param scope whose checker it is: its compiled program is kept for that account. */
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
  // Without a run, one that compiles was stopped before it.
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
 * A program that failed before its interactor had ended failed by itself; what an interactor said before its program's end
 * stands, however that ended: it was ended for it.
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

/** What a checker or interactor says by its end. */
function judgeStatus(
  name: 'checker' | 'interactor',
  run: Phase,
): { readonly verdict: 'AC' | 'WA' | 'IE'; readonly message: string } {
  const { ending, exitCode } = run
  const verdict = ending === 'exited' ? verdicts[exitCode] : undefined
  if (verdict !== undefined) return { verdict, message: said(run) }
  const message = `The ${name} ended by ${ending} with ${exitCode}: ${said(run)}`
  return { verdict: 'IE', message: message.slice(0, messageBytesMost) }
}

/** The beginning of its stderr. */
function said(phase: Phase | null): string {
  return Buffer.from(phase?.stderr.subarray(0, messageBytesMost) ?? []).toString()
}

function isCompiled({ ending, exitCode }: Phase): boolean {
  return ending === 'exited' && exitCode === 0
}
