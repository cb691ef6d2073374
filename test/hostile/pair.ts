// Runs a program and its interactor that are hostile to each other. The worker carries the data between them. Either may
// play either end of a channel, or attack the other, which at its end says whether it is unharmed.
import { randomUUID } from 'node:crypto'
import type { Executor, Network, Phase } from '#executor'
import type { Language } from '#language'
import { readText } from '../helper/executor.ts'
import { listLanguages } from './attack.ts'
import type { Channel } from './channel.ts'
import { wrapChannel } from './channel.ts'
import { findEscapes, judgeExchange } from './judge.ts'
import type { Result } from './judge.ts'
import { toErrors, wrapBody } from './program.ts'
import type { Attacker } from './program.ts'

/** An attack between the two, run both as the program and as the interactor. */
export interface PairAttack {
  /** The fact that holds, in plain words. */
  readonly name: string
  /** Starts when the victim is up. */
  readonly code: Partial<Record<Attacker, string>>
}

export interface PairCase {
  readonly title: string
  readonly attack: PairAttack
  readonly language: Attacker
}

export const listPairCases = (attacks: readonly PairAttack[]): PairCase[] =>
  attacks.flatMap((attack) =>
    listLanguages(attack.code).map((language) => ({
      title: `${attack.name} [${language}, pair]`,
      attack,
      language,
    })),
  )

interface End {
  readonly language: Language
  readonly code: string
  readonly arguments: readonly string[]
}

/** @returns the result of the program and of the interactor; the interactor's messages are in its stderr. */
async function performPair(
  executor: Executor,
  program: End,
  interactor: End,
  network?: Network,
): Promise<readonly [Result, Result]> {
  try {
    const { run } = await executor.execute({
      language: program.language,
      code: Buffer.from(program.code),
      stdin: new Uint8Array(),
      // As for the other attacks: a channel's program is compiled already.
      cacheScope: program.code,
      network,
      interactor: { language: interactor.language, code: Buffer.from(interactor.code) },
      runs: {
        inputs: [
          {
            stdin: new Uint8Array(),
            arguments: program.arguments,
            interactor: { arguments: interactor.arguments },
          },
        ],
        onRun: () => false,
      },
    })
    const describe = (phase: Phase | undefined): Result => ({
      outcome: { compile: null, compileCached: false, run: readText(phase ?? null) },
    })
    const other = run?.interactor?.phase
    return [
      describe(run ?? undefined),
      describe(other && { ...other, stdout: other.stderr, stderr: new Uint8Array() }),
    ]
  } catch (error) {
    return [{ error }, { error }]
  }
}

/** Tries a channel in both directions. @returns the results and the faults. */
export async function exchangeInPair(
  executor: Executor,
  channel: Channel,
  language: Attacker,
): Promise<{ readonly results: readonly Result[]; readonly faults: readonly string[] }> {
  const ends = channel.code[language]!
  const [code, spoken] = [wrapChannel(language, ends), wrapChannel(language, ends, true)]
  const play = (role: string, other: string): Promise<readonly [Result, Result]> =>
    performPair(
      executor,
      { language, code, arguments: [role] },
      { language, code: spoken, arguments: [other] },
      channel.network,
    )
  const [forth, back] = await Promise.all([play('send', 'receive'), play('receive', 'send')])
  return {
    results: [...forth, ...back],
    faults: [
      ...judgeExchange(channel, forth, 'from a program to its interactor'),
      ...judgeExchange(channel, back.toReversed(), 'from an interactor to its program'),
    ],
  }
}

/**
 * The victim: holds a secret in every place that a program can use until its input ends, then checks whether anything was
 * changed.
 */
const victim = `
import ctypes, os, signal, socket, sys
libc = ctypes.CDLL(None)
told = []
for number in set(range(1, 65)) - {9, 13, 19, 32, 33}: signal.signal(number, lambda number, _: told.append(number))
secret = sys.argv[1]
os.environ["SECRET"] = secret
places = ["/tmp/secret", "/box/secret", "/dev/shm/secret"]
for place in places: open(place, "w").write(secret)
libc.shmget(0x5eed, 4096, 0o1666)
held = socket.socket(socket.AF_UNIX)
held.bind("\\0victim")
held.listen()
held.setblocking(False)
print("up", flush=True)
heard = sys.stdin.read()
def reached():
    try: return held.accept()
    except BlockingIOError: return None
broken = [place for place in places if open(place).read() != secret]
if told or broken or reached() or "stray" in heard: print("ESCAPED", told, broken, heard[:300], file=sys.stderr)
else: print("whole", file=sys.stderr)
`

/** Attacks once from the program and once from the interactor. @returns the results and the faults. */
export async function attackInPair(
  executor: Executor,
  { attack, language }: PairCase,
): Promise<{ readonly results: readonly Result[]; readonly faults: readonly string[] }> {
  const [before, after] = attack.code[language]!.split('//main')
  const [declarations, body] = after === undefined ? ['', before!] : [`${before}//main`, after]
  const wait = { python: 'os.read(0, 3)', cpp: 'char up[3]; read(0, up, 3);', java: 'System.in.read(new byte[3]);' }[language] // prettier-ignore
  const [code, spoken] = ['', toErrors[language]].map((first) =>
    wrapBody(language, `${declarations}\n${first}\n${wait}\n${body}`),
  ) as [string, string]
  const secret = `secret-${randomUUID()}`
  const other = { language: 'python', code: victim, arguments: [secret] } as const
  const [forth, back] = await Promise.all([
    performPair(executor, { language, code, arguments: [] }, other),
    performPair(executor, other, { language, code: spoken, arguments: [] }),
  ])
  const faults = [
    ...judgeEnds(forth, secret, 'a program'),
    ...judgeEnds([back[1], back[0]], secret, 'an interactor'),
  ]
  return { results: [...forth, ...back], faults }
}

function judgeEnds(
  [attacker, attacked]: readonly [Result, Result],
  secret: string,
  who: string,
): string[] {
  const said = (result: Result, word: RegExp): boolean =>
    'outcome' in result &&
    result.outcome.run?.ending === 'exited' &&
    word.test(`${result.outcome.run.stdout}\n${result.outcome.run.stderr}`)
  const faults = 'outcome' in attacker ? findEscapes(attacker.outcome, [secret]) : []
  if (!said(attacker, /^held$/m)) faults.push(`${who} did not hold: ${JSON.stringify(attacker)}`)
  if (!said(attacked, /^whole$/m))
    faults.push(`what ${who} attacked is not whole: ${JSON.stringify(attacked)}`)
  return faults
}
