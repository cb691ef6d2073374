// Computes what a stream sends after a position: the stages of a submission, the live events of its attempt, and, once it has
// ended, everything that is missing, from the record.
import {
  atStage,
  compileEvent,
  cutBetweenCharacters,
  formatEvent,
  formatPosition,
  nextPosition,
  outputEvent,
  parsePosition,
} from './event.ts'
import type { LiveEvent, Position } from './event.ts'

export interface Seen {
  readonly id: string
  /** The submission waits, for the first time or again. */
  readonly isQueued: boolean
  /** The last attempt; null when none was started. */
  readonly run: string | null
  /** The attempt's events after the requested position. */
  readonly events: readonly LiveEvent[]
  /** Null while the submission has not ended. */
  readonly end: End | null
}

/** What the record of a finished submission contains. */
export interface End {
  readonly isBase64: boolean
  readonly compile: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** The tests that were run, as JSON. */
  readonly tests: readonly string[]
  readonly record: string
}

interface Continuation {
  /** The text to send; empty when there is nothing new. */
  readonly text: string
  readonly position: Position
}

/** The most output bytes in one event. */
const mostBytes = 65_536

export function continueStory(from: Position, seen: Seen): Continuation {
  const { id, run, isQueued, end } = seen
  let position = from
  const texts: string[] = []
  const add = (after: Position, event: string, data: string): void => {
    position = after
    texts.push(formatEvent({ id: formatPosition(after), event, data }))
  }
  const addStage = (status: 'queued' | 'running', of: string | null): void =>
    add(atStage(status, of), 'status', JSON.stringify({ status }))
  if (position.stage === 'new') add(atStage('submitted', null), 'submitted', JSON.stringify({ id }))
  // An attempt that was lost before the follower connected is not sent.
  if (position.stage === 'submitted') addStage('queued', isQueued ? run : null)
  if (position.stage === 'running' && (isQueued || run !== position.run))
    // After a crash the database may not know the attempt any more. The attempt's id keeps the event's id unique.
    addStage('queued', isQueued ? (run ?? position.run) : position.run)
  // An attempt that was sent as lost may continue, because a crash of the database can undo the loss.
  const goesOn = run !== position.run || end === null || hasOutput(end)
  if (position.stage === 'queued' && !isQueued && run !== null && goesOn) addStage('running', run)
  if (position.stage === 'running' && position.run === run) {
    const events = end === null ? seen.events : describeEnd(position, end)
    texts.push(...events.map(formatEvent))
    position = parsePosition(events.at(-1)?.id ?? formatPosition(position))
  }
  if (end !== null && position.stage !== 'ended') add(atStage('ended', null), 'result', end.record)
  return { text: texts.join(''), position }
}

function hasOutput({ compile, stdout, stderr, tests }: End): boolean {
  return compile !== null || stdout.length + stderr.length + tests.length > 0
}

/** Returns a finished attempt's events after a position. An attempt begins with the compiler's messages, if there are any. */
function describeEnd(from: Position, { compile, tests, isBase64, ...outputs }: End): LiveEvent[] {
  let position = from
  const events: LiveEvent[] = []
  if (compile !== null && position.seq === 0) {
    position = nextPosition(position)
    events.push(compileEvent(position, compile))
  }
  for (const output of ['stdout', 'stderr'] as const) {
    for (;;) {
      const left = outputs[output].subarray(position[output])
      const length = isBase64
        ? Math.min(left.length, mostBytes)
        : cutBetweenCharacters(left, mostBytes, true)
      if (length === 0) break
      position = nextPosition(position, output, length)
      events.push(outputEvent(position, output, left.subarray(0, length), isBase64))
    }
  }
  const before = compile === null ? 0 : 1
  for (const data of tests.slice(Math.max(0, position.seq - before))) {
    position = nextPosition(position)
    events.push({ id: formatPosition(position), event: 'test', data })
  }
  return events
}
