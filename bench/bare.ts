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
  /** What the last of them prints. */
  readonly stdout: string
  /** Files put into each run's directory beforehand, by name. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Variables beside PATH and LANG. */
  readonly environment?: Readonly<Record<string, string>>
  /** Runs under way at once, each in a directory of its own; 1 unless told. */
  readonly atOnce?: number
  /** The machine rests for so long before each run, outside of the clock. */
  readonly idleMilliseconds?: number
  /** Each command is cloned into new namespaces of the kinds that a box has, which needs root; false unless told. */
  readonly clones?: boolean
}

/** Starts programs bare. Disposing of it removes its directories. */
export interface BareRunner extends Disposable {
  /**
   * Returns what runs the commands so many times, in directories that are made anew each time it is called; in each is an
   * empty one called tmp.
   * @param run that, or what makes it of the path of its first directory.
   * @throws from the returned function when a command fails or prints anything else.
   */
  prepare(run: BareRun | ((place: string) => BareRun)): (runs: number) => Promise<Batch>
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
    prepare(run) {
      prepared += 1
      const first = `${directory}/${prepared}-0`
      const {
        commands,
        stdout,
        files = {},
        environment,
        atOnce = 1,
        idleMilliseconds = 0,
        clones = false,
      } = typeof run === 'function' ? run(first) : run
      const places = Array.from({ length: atOnce }, (_, n) => `${directory}/${prepared}-${n}`)
      const commandLine = commands.flatMap((command, n) => (n === 0 ? command : [';', ...command]))
      return async (runs) => {
        for (const place of places) makePlace(place, files)
        const counts = [clones ? 'clone' : 'spawn', String(runs), String(idleMilliseconds), stdout]
        const told = await execute(program, [...counts, ...places, '--', ...commandLine], {
          // posix_spawnp looks for programs where that process would, not where the child will: no version manager's shims.
          env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...environment },
        })
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

function makePlace(place: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  rmSync(place, { recursive: true, force: true })
  mkdirSync(`${place}/tmp`, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(place, name), content, { mode: 0o755 })
  }
}
