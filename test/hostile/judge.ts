// What an attack's outcome says: whether something escaped, and whether it ended as its row allows.
// Apart from hostile.ts, which runs the attacks and looks after the host.
import { timeFactor } from '../helper/executor.ts'
import type { TextOutcome, TextPhase } from '../helper/executor.ts'
import type { Attack, Fate } from './attack.ts'
import type { Channel } from './channel.ts'
import { compileWallSeconds, hasTightCompiler } from './profile.ts'

/** What `execute` came to. */
export type Result = { readonly outcome: TextOutcome } | { readonly error: unknown }

const nameFate = ({ ending, exitCode }: TextPhase): Fate =>
  ending === 'exited' && exitCode !== 0 ? 'crashed' : ending

/** All that compiler and program have written, and the files that came back. */
const tell = ({ compile, run }: TextOutcome): string =>
  [
    ...[compile, run].map((one) => `${one?.stdout ?? ''}\n${one?.stderr ?? ''}`),
    ...(run?.outputFiles ?? []).map(({ content }) => Buffer.from(content ?? []).toString('latin1')),
  ].join('\n')

/** Lines by which a program says that something worked, or that it cannot tell; and the secrets anywhere. */
export function findEscapes(outcome: TextOutcome, secrets: readonly string[]): string[] {
  const words = tell(outcome)
  // A compiler puts the place before the message.
  const said = words
    .split('\n')
    .filter((line) => /^(ESCAPED|UNSURE)|error: #error ESCAPED/.test(line))
  if (secrets.some((secret) => words.includes(secret))) said.push("a secret of the host's")
  return said.slice(0, 20)
}

/** What is wrong with the way an attack ended; empty when it is right. */
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
  // Time in which it was not let run is no part of its limit.
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

/** Both ends in one box: an open channel must work there, or its receiver would prove nothing elsewhere. */
export function judgeControl(channel: Channel, control: Result): string[] {
  const fine = said(control, channel.open ? 'RECEIVED' : 'nothing')
  return fine ? [] : [`in one box: ${show(control)}`]
}

/** Two boxes: the sender must have tried, the receiver must have looked and found nothing. */
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
