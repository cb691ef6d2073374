// Judges a program that spoke with an interactor: by who broke off first, and then by the interactor's word.
import type { Phase } from '#executor'
import { judgeStatus, said } from './program-checker.ts'
import { judgeEnd, nothingBut } from './verdict.ts'
import type { Judged } from './verdict.ts'

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
