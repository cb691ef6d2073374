// What a stream has sent so far of an unfinished submission. Output may be endless, so only its last part is kept.
import type { Result, StreamEvent, StreamedOutput, StreamedTest } from '#client'
import { cut } from './visible.ts'

/** The last part of an output. */
export interface Tail {
  readonly text: string
  /** How many characters before it were dropped. */
  readonly dropped: number
}

export interface Live {
  readonly status: Extract<Result['status'], 'queued' | 'running'>
  /** The compiler's messages; null: none, or none yet. */
  readonly compile: string | null
  readonly stdout: Tail
  readonly stderr: Tail
  /** The tests that have ended. */
  readonly tests: readonly StreamedTest[]
}

/** The characters that are kept of each output. Drawing more would take longer than a frame lasts. */
export const keptCharacters = 32_768

const nothing: Tail = { text: '', dropped: 0 }

/** The initial state, to which each new attempt returns. */
export const nothingYet: Live = {
  status: 'queued',
  compile: null,
  stdout: nothing,
  stderr: nothing,
  tests: [],
}

/** Returns the state after one more event. The `result` event changes nothing here. */
export function advance(live: Live, { event, data }: StreamEvent): Live {
  switch (event) {
    case 'submitted':
      return nothingYet
    case 'status':
      return data.status === 'queued' ? nothingYet : { ...live, status: data.status }
    case 'compile':
      return { ...live, compile: data.output }
    case 'stdout':
    case 'stderr':
      return { ...live, [event]: append(live[event], decode(data)) }
    case 'test':
      return { ...live, tests: [...live.tests, data] }
    default:
      return live
  }
}

function append({ text, dropped }: Tail, more: string): Tail {
  const whole = text + more
  const over = whole.length - keptCharacters
  if (over <= 0) return { text: whole, dropped }
  const from = cut(whole, over).length
  return { text: whole.slice(from), dropped: dropped + from }
}

// A character that is split between two pieces is not joined. The final result shows it correctly.
function decode(output: StreamedOutput): string {
  return 'text' in output ? output.text : new TextDecoder().decode(decodeBase64(output.base64))
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
