// The floor of every bench that runs a program: the same program, started by posix_spawn without any box. A small C program
// starts it, waits for it and measures the time (posix-spawn.c gives the reason why Node does not).
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Batch } from './measure.ts'

const execute = promisify(execFile)

/** Describes a bare run. */
export interface BareRun {
  /** The commands of a run. They run one after the other, in the run's directory. */
  readonly commands: readonly (readonly string[])[]
  /** What the last command prints. */
  readonly stdout: string
  /** Files put into each run's directory beforehand, by name. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Variables beside PATH and LANG. */
  readonly environment?: Readonly<Record<string, string>>
  /** How many runs are in progress at once, each in a separate directory; 1 when left out. */
  readonly atOnce?: number
  /** How long the machine rests before each run; not timed. */
  readonly idleMilliseconds?: number
  /** Whether each command is cloned into new namespaces of the kinds that a box has. That needs root; false when left out. */
  readonly clones?: boolean
}

/** Starts programs without a box. Disposing of the runner removes its directories. */
export interface BareRunner extends Disposable {
  /**
   * Returns a function that runs the commands `runs` times. Each call makes the runs' directories anew, with an empty
   * directory tmp in each.
   * @param run the run, or a function that makes it from the path of the first directory.
   * @throws from the returned function when a command fails or prints anything but `stdout`.
   */
  prepare(run: BareRun | ((place: string) => BareRun)): (runs: number) => Promise<Batch>
  /** The runner's directory, for whatever else a bench needs. */
  readonly directory: string
}

/** Compiles posix-spawn.c and returns a runner. */
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
        const measured = await execute(program, [...counts, ...places, '--', ...commandLine], {
          // posix_spawnp searches the C program's PATH, not the child's. This PATH has no version manager's shims.
          env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...environment },
        })
        const milliseconds = measured.stdout
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
