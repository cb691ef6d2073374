// Runs the Procfile's processes for dev.ts: their output with their names before it, one that crashes is started again,
// all end together.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'

/** A line of the Procfile. */
export interface ProcfileEntry {
  readonly name: string
  readonly command: string
}

export interface Processes {
  /** Resolves true once each of these messages was logged, false if the processes end before. */
  logged(messages: readonly string[]): Promise<boolean>
  /** Sends SIGTERM to all. */
  stop(): Promise<void>
  /** Resolves when all have ended, with the exit status for the whole. */
  readonly ended: Promise<number>
}

// Statuses with which a process says that starting it again would change nothing (EX_UNAVAILABLE, EX_CONFIG).
const finalStatuses = [69, 78]
const restartMilliseconds = 1000
// One that ends this soon after its start, so often in a row, will not get better either.
const earlyMilliseconds = 5000
const earlyEnds = 3

/** Reads the named processes of the Procfile in this folder. */
export async function readProcfile(names: readonly string[]): Promise<ProcfileEntry[]> {
  const entries = (await readFile('Procfile', 'utf8')).split('\n').flatMap((line) => {
    const [, name, command] = /^([a-z]+):[ \t]*(\S.*)$/.exec(line) ?? []
    return name === undefined || command === undefined ? [] : [{ name, command }]
  })
  return entries.filter(({ name }) => names.includes(name))
}

/** Starts processes with some environment variables added to ours. */
export function startProcesses(
  entries: readonly ProcfileEntry[],
  environment: Readonly<Record<string, string>>,
): Processes {
  const children = new Map<string, ChildProcess>()
  const seen = new Set<string>()
  const watchers = new Set<() => void>()
  let stopping = false
  let status = 0

  const stop = (): void => {
    if (stopping) return
    stopping = true
    for (const child of children.values()) child.kill('SIGTERM')
  }
  const ended = Promise.all(entries.map(keepRunning)).then(() => status)
  void ended.then(() => watchers.forEach((check) => check()))

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

  function runOnce(name: string, command: string): Promise<[number | null, string | null]> {
    return new Promise((resolve) => {
      // setpriv: it ends with us, however we end. detached: a Ctrl-C reaches us alone, and we stop all in order.
      const child = spawn(
        'setpriv',
        ['--pdeathsig', 'SIGTERM', '--', 'sh', '-c', `exec ${command}`],
        {
          detached: true,
          env: { ...process.env, ...environment },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
      children.set(name, child)
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          process.stdout.write(`${styleText('dim', name.padEnd(9))} ${line}\n`)
          const message = /"msg":"([a-z_.]+)"/.exec(line)?.[1]
          if (message !== undefined) seen.add(message)
          watchers.forEach((check) => check())
        })
      }
      child.once('exit', (code, signal) => resolve([code, signal]))
      child.once('error', () => resolve([null, 'no such command']))
    })
  }

  return {
    ended,
    async stop() {
      stop()
      await ended
    },
    logged(messages) {
      return new Promise((resolve) => {
        const check = (): void => {
          if (messages.every((message) => seen.has(message))) resolve(true)
          else if (stopping) resolve(false)
        }
        watchers.add(check)
        check()
      })
    },
  }
}
