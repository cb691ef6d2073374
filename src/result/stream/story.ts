// What follows a position: the stages of a submission, the live events of its attempt, and at its end all of it by the record.
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
  /** It waits, for the first time or again. */
  readonly isQueued: boolean
  /** The last attempt; null: none was started. */
  readonly run: string | null
  /** Of that attempt, behind the position that was asked for. */
  readonly events: readonly LiveEvent[]
  /** Null: it has not ended. */
  readonly end: End | null
}

/** Of the record. */
export interface End {
  readonly isBase64: boolean
  readonly compile: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** Those that were run, as JSON. */
  readonly tests: readonly string[]
  readonly record: string
}

interface Continuation {
  /** As it is sent; empty when there is nothing new. */
  readonly text: string
  readonly position: Position
}

/** Of one event. */
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
  // An attempt that was lost before anybody looked is left out.
  if (position.stage === 'submitted') addStage('queued', isQueued ? run : null)
  if (position.stage === 'running' && (isQueued || run !== position.run))
    // A crash of the database may have forgotten the attempt: its name keeps the id unique.
    addStage('queued', isQueued ? (run ?? position.run) : position.run)
  // It goes on although it was lost: a crash of the database has forgotten the loss.
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

/** The events of an attempt that has ended, behind a position: an attempt begins with the compiler's messages, if any. */
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
