// How far a watcher has come. It is told with each event, and whoever comes back with it gets what follows: all of it can be
// computed from the record, so nothing is kept for it.

export interface Position {
  /** What was told last of how the submission stands; `new`: nothing. */
  readonly stage: Stage
  /** The last attempt that was told of, or known to be lost; null: none. */
  readonly run: string | null
  /** 1: the compiler's messages were told. */
  readonly compile: number
  /** Bytes. */
  readonly stdout: number
  readonly stderr: number
  /** Tests. */
  readonly test: number
}

const stages = { new: 'n', submitted: 's', queued: 'q', running: 'r', ended: 'e' } as const
export type Stage = keyof typeof stages

const nothingTold = { compile: 0, stdout: 0, stderr: 0, test: 0 } as const

/** Nothing was told. */
export const beginning: Position = { stage: 'new', run: null, ...nothingTold }

/** Nothing of this attempt was told but how it stands. */
export function atStage(stage: Stage, run: string | null): Position {
  return { stage, run, ...nothingTold }
}

/** As an event's `id`. */
export function formatPosition({ stage, run, compile, stdout, stderr, test }: Position): string {
  return [stages[stage], run ?? '', compile, stdout, stderr, test].join('.')
}

/** What is none of ours is the beginning, as for a server that has forgotten: a client cannot mend it. */
export function parsePosition(text: string): Position {
  const [, letter, run = '', ...numbers] =
    /^([sqre])\.([\da-f-]{0,36})\.([01])\.(\d{1,12})\.(\d{1,12})\.(\d{1,6})$/.exec(text) ?? []
  const stage = (Object.keys(stages) as Stage[]).find((name) => stages[name] === letter)
  if (stage === undefined) return beginning
  const [compile = 0, stdout = 0, stderr = 0, test = 0] = numbers.map(Number)
  return { stage, run: run === '' ? null : run, compile, stdout, stderr, test }
}
