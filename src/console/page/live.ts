// What a stream has sent so far of an unfinished submission. What a program writes has no end: its last part alone is kept.
import type { Result, StreamEvent, StreamedOutput, StreamedTest } from '#client'
import { cut } from './visible.ts'

/** The end of an output. */
export interface Tail {
  readonly text: string
  /** Characters before it, which are not kept. */
  readonly dropped: number
}

export interface Live {
  readonly status: Extract<Result['status'], 'queued' | 'running'>
  /** The compiler's messages; null: none, or none yet. */
  readonly compile: string | null
  readonly stdout: Tail
  readonly stderr: Tail
  /** Those that have ended. */
  readonly tests: readonly StreamedTest[]
}

/** Of each output. More would take longer to draw than a frame lasts. */
export const keptCharacters = 32_768

const nothing: Tail = { text: '', dropped: 0 }

/** The next attempt starts over. */
export const nothingYet: Live = {
  status: 'queued',
  compile: null,
  stdout: nothing,
  stderr: nothing,
  tests: [],
}

/** What is known after one more event; the result itself changes nothing here. */
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

// A character that stands in two pieces of bytes is not put together: the end has it.
function decode(output: StreamedOutput): string {
  return 'text' in output ? output.text : new TextDecoder().decode(decodeBase64(output.base64))
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
