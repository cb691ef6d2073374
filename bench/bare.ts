// The floor of everything that runs a program: the same program started by posix_spawn, without any box, and waited for.
// A small C program starts it and keeps the time (posix-spawn.c says why it is not Node that does).
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Batch } from './measure.ts'

const execute = promisify(execFile)

/** What is run bare. */
export interface BareRun {
  /** One after the other, each in the run's own directory. */
  readonly commands: readonly (readonly string[])[]
  /** What they print together. */
  readonly stdout: string
  /** Files put into each run's directory beforehand, by name. */
  readonly files?: Readonly<Record<string, string | Buffer>>
  /** Runs under way at once, each in a directory of its own; 1 unless told. */
  readonly atOnce?: number
  /** The machine rests for so long before each run, outside of the clock. */
  readonly idleMilliseconds?: number
}

/** Starts programs bare. Disposing of it removes its directories. */
export interface BareRunner extends Disposable {
  /**
   * Makes the directories and returns what runs the commands so many times in them.
   * @throws from the returned function when a command fails or prints anything else.
   */
  prepare(run: BareRun): (runs: number) => Promise<Batch>
  /** A directory of its own for whatever else a bench needs. */
  readonly directory: string
}

/** Compiles posix-spawn.c. */
export async function createBareRunner(): Promise<BareRunner> {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-bench-'))
  const program = join(directory, 'posix-spawn')
  const source = join(import.meta.dirname, 'posix-spawn.c')
  const options = ['-O2', '-std=c17', '-Wall', '-Wextra', '-Werror', '-pthread']
  await execute('/usr/bin/gcc', [...options, '-o', program, source])
  let prepared = 0
  return {
    directory,
    prepare({ commands, stdout, files = {}, atOnce = 1, idleMilliseconds = 0 }) {
      prepared += 1
      const places = Array.from({ length: atOnce }, (_, n) => `${directory}/${prepared}-${n}`)
      for (const place of places) {
        mkdirSync(place)
        for (const [name, content] of Object.entries(files)) {
          writeFileSync(join(place, name), content, { mode: 0o755 })
        }
      }
      const commandLine = commands.flatMap((command, n) => (n === 0 ? command : [';', ...command]))
      return async (runs) => {
        const counts = [String(runs), String(idleMilliseconds), stdout]
        const told = await execute(program, [...counts, ...places, '--', ...commandLine])
        const milliseconds = told.stdout
          .trim()
          .split('\n')
          .map((line) => Number(line) / 1e6)
        const elapsedMilliseconds = milliseconds.pop() ?? Number.NaN
        return { durations: milliseconds, elapsedSeconds: elapsedMilliseconds / 1000 }
      }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}
