// Runs the Procfile's processes, restarts crashed ones, and ends all together.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'

interface ProcfileEntry {
  readonly name: string
  readonly command: string
}

interface Processes {
  /** Resolves with true when every process has logged its start (`web.started`), with false if they are stopped before. */
  readonly started: Promise<boolean>
  /** Sends SIGTERM to all processes. */
  readonly stop: () => void
  /** Resolves with the exit status for all when all processes have ended. */
  readonly ended: Promise<number>
}

// After these exit statuses a restart would change nothing (EX_UNAVAILABLE, EX_CONFIG).
const finalStatuses = [69, 78]
const restartMilliseconds = 1000
// A process that ends early so many times in a row is not restarted.
const earlyMilliseconds = 5000
const earlyEnds = 3

export async function readProcfile(names: readonly string[]): Promise<ProcfileEntry[]> {
  const entries = (await readFile('Procfile', 'utf8')).split('\n').flatMap((line) => {
    const [, name, command] = /^([a-z]+):[ \t]*(\S.*)$/.exec(line) ?? []
    return name === undefined || command === undefined ? [] : [{ name, command }]
  })
  return entries.filter(({ name }) => names.includes(name))
}

/** Starts the processes. @param environment variables that are added to those of this process. */
export function startProcesses(
  entries: readonly ProcfileEntry[],
  environment: Readonly<Record<string, string>>,
): Processes {
  const children = new Map<string, ChildProcess>()
  const starting = new Set(entries.map(({ name }) => `${name}.started`))
  const started = Promise.withResolvers<boolean>()
  let stopping = false
  let status = 0

  const stop = (): void => {
    if (stopping) return
    stopping = true
    started.resolve(false)
    for (const child of children.values()) child.kill('SIGTERM')
  }
  const ended = Promise.all(entries.map(keepRunning)).then(() => status)

  async function keepRunning({ name, command }: ProcfileEntry): Promise<void> {
    let ends = 0
    while (!stopping) {
      const startedAt = performance.now()
      const [code, signal] = await runOnce(name, command)
      if (stopping) break
      ends = performance.now() - startedAt < earlyMilliseconds ? ends + 1 : 0
      process.stdout.write(
        `${styleText('red', `${name} ended with ${signal ?? `status ${code}`}`)}\n`,
      )
      if (ends === earlyEnds || (code !== null && finalStatuses.includes(code))) {
        status = 1
        stop()
      } else await sleep(restartMilliseconds)
    }
  }

  async function runOnce(name: string, command: string): Promise<[number | null, string | null]> {
    // setpriv ends the child with this process. `detached` keeps Ctrl-C from the child.
    const child = spawn(
      'setpriv',
      ['--pdeathsig', 'SIGTERM', '--', 'sh', '-c', `exec ${command}`],
      {
        detached: true,
        env: {
          ...process.env,
          ...environment,
          // Only web processes sign receipts.
          ...(name !== 'web' && { RECEIPT_KEY: undefined }),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    children.set(name, child)
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        process.stdout.write(`${styleText('dim', name.padEnd(9))} ${line}\n`)
        const message = /"msg":"([a-z_.]+)"/.exec(line)?.[1]
        if (message !== undefined) starting.delete(message)
        if (starting.size === 0) started.resolve(true)
      })
    }
    const end = once(child, 'exit') as Promise<[number | null, string | null]>
    return end.catch(() => [null, 'no such command'])
  }

  return { started: started.promise, stop, ended }
}
