// Turns what a run has written so far into numbered events for its watchers. Output is cut between characters once, here. An
// output event is made again from the captured output, so that none is kept in memory.
import type { Live, OutputSource, Runs } from '#executor'
import {
  atStage,
  compileEvent,
  cutBetweenCharacters,
  describeTest,
  formatPosition,
  nextPosition,
  outputEvent,
} from '#report'
import type { LiveEvent } from '#report'
import type { JudgedTests } from './tests.ts'

export type NumberedEvent = LiveEvent & { readonly seq: number }

export interface RunEvents {
  /** The callbacks of the executor. */
  readonly live: Live
  /** Follows the tests, each of which becomes an event once it has ended. */
  follow(tests: JudgedTests): Runs
  /** @returns the events from this number on. After the run, the captured output is gone. */
  take(from: number, isBase64: boolean): NumberedEvent[]
}

/** The most bytes of each output at a time, which makes 1 MiB a second. */
const mostBytes = 52_428

/** Creates the events of a run. @param onMore called when there may be further events. */
export function createRunEvents(run: string, onMore: () => void): RunEvents {
  /** Each function makes its event; null when the captured output is gone. */
  const events: (() => LiveEvent | null)[] = []
  let position = atStage('running', run)
  let messages: Uint8Array | null = null
  let source: OutputSource | null = null
  let tests: JudgedTests | null = null
  let testsCut = 0

  function cutOutput(output: 'stdout' | 'stderr', isBase64: boolean): void {
    const start = position[output]
    const bytes = source?.read(output, start, mostBytes) ?? new Uint8Array()
    const length = isBase64 ? bytes.length : cutBetweenCharacters(bytes, mostBytes, false)
    if (length === 0) return
    position = nextPosition(position, output, length)
    const after = position
    events.push(() => {
      const kept = source?.read(output, start, length)
      return kept === undefined ? null : outputEvent(after, output, kept, isBase64)
    })
  }

  function cut(isBase64: boolean): void {
    if (messages !== null && events.length === 0) {
      position = nextPosition(position)
      const event = compileEvent(position, messages)
      events.push(() => event)
    }
    cutOutput('stdout', isBase64)
    cutOutput('stderr', isBase64)
    for (const [index, test] of tests?.reports.entries().drop(testsCut) ?? []) {
      if (test.verdict === null) continue
      testsCut = index + 1
      position = nextPosition(position)
      const event = { id: formatPosition(position), event: 'test', data: describeTest(index, test) }
      events.push(() => event)
    }
  }

  return {
    live: {
      compiled({ stderr }) {
        messages = stderr
        onMore()
      },
      tap: {
        open(opened) {
          source = opened
          onMore()
        },
        note: onMore,
        close() {
          source = null
        },
      },
    },
    follow(judged) {
      tests = judged
      return {
        inputs: judged.inputs,
        async onRun(...ended) {
          const goesOn = await judged.onRun(...ended)
          onMore()
          return goesOn
        },
      }
    },
    take(from, isBase64) {
      if (from > events.length) cut(isBase64)
      const taken: NumberedEvent[] = []
      for (let seq = from, bytes = 0; bytes < mostBytes; seq += 1) {
        const event = events[seq - 1]?.() ?? null
        if (event === null) break
        bytes += event.data.length
        taken.push({ seq, ...event })
      }
      return taken
    },
  }
}
