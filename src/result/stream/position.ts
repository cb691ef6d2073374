// The id of a stream's event: what a follower that comes back has had. A live event has a number within its attempt; the
// record has no events, so an id also says how much of both outputs came before it.

export interface Position {
  /** The last stage that was sent; `new`: none. */
  readonly stage: 'new' | 'submitted' | 'queued' | 'running' | 'ended'
  /** The last attempt that was sent, or was known to be lost; null: none. */
  readonly run: string | null
  /** Of the attempt: how many of its events were sent. */
  readonly seq: number
  /** Bytes. */
  readonly stdout: number
  readonly stderr: number
}

/** Of the attempt `run`, nothing but its stage was sent. */
export function atStage(stage: Position['stage'], run: string | null): Position {
  return { stage, run, seq: 0, stdout: 0, stderr: 0 }
}

/** Nothing was sent. */
export const beginning: Position = atStage('new', null)

export function formatPosition({ stage, run, seq, stdout, stderr }: Position): string {
  if (stage === 'running') return [run, seq, stdout, stderr].join('.')
  return stage === 'queued' && run !== null ? `queued.${run}` : stage
}

/** An unknown id is the beginning, as for a server that has forgotten it. */
export function parsePosition(text: string): Position {
  if (text === 'submitted' || text === 'queued' || text === 'ended') return atStage(text, null)
  const [, lost] = /^queued\.([\da-f-]{1,36})$/.exec(text) ?? []
  if (lost !== undefined) return atStage('queued', lost)
  const [, run, ...numbers] =
    /^([\da-f-]{1,36})\.(\d{1,9})\.(\d{1,12})\.(\d{1,12})$/.exec(text) ?? []
  if (run === undefined) return beginning
  const [seq = 0, stdout = 0, stderr = 0] = numbers.map(Number)
  return { stage: 'running', run, seq, stdout, stderr }
}
