// Judges an attack's outcome: whether something escaped, and whether the attack ended with a fate that its row allows.
// hostile.ts runs the attacks and inspects the host.
import { timeFactor } from '../helper/executor.ts'
import type { TextOutcome, TextPhase } from '../helper/executor.ts'
import type { Attack, Fate } from './attack.ts'
import type { Channel } from './channel.ts'
import { compileWallSeconds, hasTightCompiler } from './profile.ts'

/** The result or the error of `execute`. */
export type Result = { readonly outcome: TextOutcome } | { readonly error: unknown }

const nameFate = ({ ending, exitCode }: TextPhase): Fate =>
  ending === 'exited' && exitCode !== 0 ? 'crashed' : ending

/** Returns all output of the compiler and the program, and the returned output files. */
const tell = ({ compile, run }: TextOutcome): string =>
  [
    ...[compile, run].map((one) => `${one?.stdout ?? ''}\n${one?.stderr ?? ''}`),
    ...(run?.outputFiles ?? []).map(({ content }) => Buffer.from(content ?? []).toString('latin1')),
  ].join('\n')

/**
 * Returns the lines in which a program says that something worked or that it is unsure, and reports any secret in the
 * output.
 */
export function findEscapes(outcome: TextOutcome, secrets: readonly string[]): string[] {
  const words = tell(outcome)
  // A compiler prints the position before the message.
  const said = words
    .split('\n')
    .filter((line) => /^(ESCAPED|UNSURE)|error: #error ESCAPED/.test(line))
  if (secrets.some((secret) => words.includes(secret))) said.push("a secret of the host's")
  return said.slice(0, 20)
}

/** Returns what is wrong with the result of an attack; empty when it is right. */
export function judge(attack: Attack, result: Result): string[] {
  if ('error' in result) return []
  const { outcome } = result
  const faults: string[] = []
  const phase = attack.phase === 'compile' ? outcome.compile : outcome.run
  if (phase === null) {
    const compiler = outcome.compile
    return [`never ran: ${compiler?.ending} ${compiler?.exitCode} ${compiler?.stderr}`]
  }
  const fate = nameFate(phase)
  const words = `${phase.stdout.slice(-400)} ${phase.stderr.slice(-800)}`
  if (!attack.fates.includes(fate)) faults.push(`it ended as ${fate} (${phase.exitCode}): ${words}`)
  const last = attack.phase === 'compile' ? outcome.run : phase
  if (last?.ending === 'exited' && last.exitCode === 0 && !/^held$/m.test(last.stdout))
    faults.push(`it did not hold: ${words}`)
  if (attack.shows !== undefined && !attack.shows.test(tell(outcome)))
    faults.push(`it shows nothing even where it may: ${tell(outcome).slice(-1200)}`)
  // The time in which the box was not scheduled does not count towards its limit.
  const { wallSeconds, delaySeconds = 0 } = phase.usage
  if (hasTightCompiler(attack) && wallSeconds - delaySeconds > compileWallSeconds + timeFactor)
    faults.push(`it took ${wallSeconds} s to compile, of which it waited ${delaySeconds} s`)
  return faults
}

const said = (result: Result | undefined, word: string): boolean =>
  result !== undefined && 'outcome' in result && (result.outcome.run?.stdout ?? '').includes(word)

function show(result: Result | undefined): string {
  if (result === undefined || !('outcome' in result)) return 'none'
  return JSON.stringify(result.outcome.run ?? result.outcome.compile)
}

/** Judges both ends in one box. An open channel must work there, otherwise its receiver would prove nothing elsewhere. */
export function judgeControl(channel: Channel, control: Result): string[] {
  const fine = said(control, channel.open ? 'RECEIVED' : 'nothing')
  return fine ? [] : [`in one box: ${show(control)}`]
}

/** Judges the ends in two boxes: the sender must have tried, and the receiver must have looked and found nothing. */
export function judgeExchange(
  channel: Channel,
  [sender, receiver]: readonly Result[],
  when: string,
): string[] {
  const faults: string[] = []
  if (said(receiver, 'RECEIVED')) faults.push(`${when}: ${channel.name} carried a message`)
  else if (!said(receiver, 'nothing'))
    faults.push(`${when}: the receiver failed: ${show(receiver)}`)
  if (!said(sender, 'sent')) faults.push(`${when}: not sent: ${show(sender)}`)
  return faults
}
