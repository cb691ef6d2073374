// Tells what runs write while they run, to those who watch (watched.ts): pieces go into runledger.live_output, which tells who
// reads them there. Nothing is told of a run that nobody watches. What was told is found again by its answer, so what a crash
// of the server has lost is told once more; what is not told in time is in the record of the end.
import type { Database } from '#database'
import type { Live, OutputSource, Runs } from '#executor'
import type { Logger } from '#log'
import { describeTest } from '#report'
import type { Attempt } from './attempt.ts'
import type { JudgedTests } from './tests.ts'
import { createWatched } from './watched.ts'

/** Of one attempt. */
export interface Teller {
  /** What the executor tells. */
  readonly live: Live
  /** The tests, each of which is told of once it has ended. */
  follow(tests: JudgedTests): Runs
  /** The attempt's end is in the log. */
  end(): void
}

export interface Tellers {
  open(attempt: Pick<Attempt, 'submission' | 'run'>): Teller
  /** This submission is watched. */
  noteWatch(submission: string): void
  /** Looks which are: words may have been missed. */
  lookAgain(): void
  /** Called by the clock: does so now and then. */
  tick(): void
}

/** Between two words about one run. */
const pauseMilliseconds = 50
/** What is told of one run meanwhile: the rest waits for the next word, or for the end. */
const bytesPerSecond = 1024 * 1024
/** As runledger.read_streams wants it. */
const pieceBytes = 65_536
/** After a failure. */
const retryMilliseconds = 500

type Output = 'stdout' | 'stderr'

/** Bytes, tests, and -1 while the compiler's messages were not told. */
type Ends = Readonly<Record<Output | 'compile' | 'test', number>>

interface Piece {
  readonly kind: keyof Ends
  readonly start: number
  /** Base64. */
  readonly bytes: string
}

interface Told {
  readonly submission: string
  readonly run: string
  isWatched: boolean
  hasBegun: boolean
  /** There may be more. */
  isDirty: boolean
  /** By performance.now(). */
  dueAt: number
  ends: Ends
  messages: Uint8Array | null
  source: OutputSource | null
  tests: JudgedTests | null
}

interface EndsRow extends Ends {
  readonly run: string
  readonly watched: boolean
}

export function createTellers(database: Database, log: Logger): Tellers {
  const open = new Map<string, Told>()
  const watchedSubmissions = createWatched(database, log, (submission) => {
    for (const told of open.values())
      if (told.submission === submission && !told.isWatched) {
        told.isWatched = true
        told.source?.follow()
        note(told)
      }
  })
  let telling: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  /** When it fires, by performance.now(). */
  let timerAt = 0

  function note(told: Told): void {
    if (!told.isWatched) return
    told.isDirty = true
    schedule()
  }

  function schedule(): void {
    if (telling !== null) return
    const due = waiting().map(({ dueAt }) => dueAt)
    if (due.length === 0) return
    const next = Math.min(...due)
    if (timer !== undefined && timerAt <= next) return
    clearTimeout(timer)
    timerAt = next
    timer = setTimeout(
      () => {
        timer = undefined
        telling = tell().finally(() => {
          telling = null
          schedule()
        })
      },
      Math.max(0, next - performance.now()),
    )
  }

  const waiting = (): Told[] =>
    [...open.values()].filter(({ isWatched, isDirty }) => isWatched && isDirty)

  /** One statement for all of them. */
  async function tell(): Promise<void> {
    const now = performance.now()
    const due = waiting().filter(({ dueAt }) => dueAt <= now)
    const words = due.map((told) => {
      const { submission, run, hasBegun } = told
      told.isDirty = false
      return { submission, run, begins: !hasBegun, pieces: cutPieces(told) }
    })
    try {
      const rows = await database<EndsRow[]>`
        select * from runledger.tell_output(${JSON.stringify(words)}::text::jsonb)`
      for (const [index, { run, pieces }] of words.entries()) {
        const row = rows.find((one) => one.run === run)
        const told = due[index]
        if (row !== undefined && told !== undefined) learn(told, row, now + pauseAfter(pieces))
      }
    } catch (error) {
      log.warn({ err: error }, 'output.not_told')
      for (const told of due) {
        told.isDirty = true
        told.dueAt = performance.now() + retryMilliseconds
      }
    }
  }

  function learn(
    told: Told,
    { watched, compile, stdout, stderr, test }: EndsRow,
    due: number,
  ): void {
    if (!watched) {
      told.isWatched = false
      watchedSubmissions.forget(told.submission)
      return
    }
    told.hasBegun = true
    told.ends = { compile, stdout, stderr, test }
    told.dueAt = due
    if (cutPieces(told, 1).length > 0) told.isDirty = true
  }

  async function forget(told: Told): Promise<void> {
    const { submission, run } = told
    try {
      // What is being told now may be its first word.
      await telling
      if (told.hasBegun) await database`select runledger.forget_output(${submission}, ${run})`
    } catch {
      // It is swept up.
    }
  }

  function openTeller({ submission, run }: Pick<Attempt, 'submission' | 'run'>): Teller {
    const told: Told = {
      submission,
      run,
      isWatched: watchedSubmissions.has(submission),
      hasBegun: false,
      isDirty: false,
      dueAt: 0,
      ends: { compile: -1, stdout: 0, stderr: 0, test: 0 },
      messages: null,
      source: null,
      tests: null,
    }
    open.set(run, told)
    // It runs: that alone is worth a word.
    note(told)
    return {
      live: {
        compiled({ stderr }) {
          told.messages = stderr
          note(told)
        },
        tap: {
          open(source) {
            told.source = source
            if (told.isWatched) source.follow()
            note(told)
          },
          note: () => note(told),
          close() {
            told.source = null
          },
        },
      },
      follow(tests) {
        told.tests = tests
        return {
          inputs: tests.inputs,
          async onRun(...ended) {
            const goesOn = await tests.onRun(...ended)
            note(told)
            return goesOn
          },
        }
      },
      end() {
        open.delete(run)
        void forget(told)
      },
    }
  }

  return {
    open: openTeller,
    noteWatch: watchedSubmissions.hear,
    lookAgain: watchedSubmissions.look,
    tick: watchedSubmissions.tick,
  }
}

/** What is not told yet. @param most bytes of each output. */
function cutPieces({ ends, messages, source, tests }: Told, most = pieceBytes): Piece[] {
  const pieces: Piece[] = []
  const add = (kind: Piece['kind'], start: number, bytes: Uint8Array | string): void => {
    pieces.push({ kind, start, bytes: Buffer.from(bytes).toString('base64') })
  }
  if (messages !== null && ends.compile < 0) add('compile', 0, messages)
  for (const kind of ['stdout', 'stderr'] as const) {
    const bytes = source?.read(kind, ends[kind], most)
    if (bytes !== undefined && bytes.length > 0) add(kind, ends[kind], bytes)
  }
  const ended = tests?.told.filter(({ verdict }) => verdict !== null) ?? []
  for (const [index, test] of ended.entries())
    if (index >= ends.test) add('test', index, describeTest(index, test))
  return pieces
}

function pauseAfter(pieces: readonly Piece[]): number {
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length * 0.75, 0)
  return Math.max(pauseMilliseconds, (bytes / bytesPerSecond) * 1000)
}
