// Runs commands of the command line one after the other in one process, because the start of a process takes a third of a
// second of CPU time. Each call runs the entry file anew.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Test } from 'tap'
import { bareEnvironment } from './bare-environment.ts'

const root = resolve(import.meta.dirname, '../..')

/** The end of a command, as its caller sees it. */
export interface Ended {
  readonly status: number
  readonly out: string
  readonly err: string
}

type Environment = Readonly<Record<string, string>>

/** Runs a command, after the earlier calls have ended. A line is its words with a space between two. */
export type RunCommand = (
  line: string | readonly string[],
  environment?: Environment,
) => Promise<Ended>

/** Starts the process in which commands run; it ends with the test. @param usual the environment of calls without one. */
export function startCommandLine(t: Test, usual: Environment): RunCommand {
  // No stream is a terminal, wherever the test runs.
  const child = fork(import.meta.filename, {
    cwd: root,
    env: bareEnvironment,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  child.stderr?.pipe(process.stderr)
  const died = once(child, 'exit').then((): Ended => {
    throw new Error('the process in which commands run has ended')
  })
  died.catch(() => {})
  t.teardown(() => child.kill('SIGKILL'))
  let earlier: Promise<unknown> = Promise.resolve()
  return (line, environment = usual) => {
    const words = typeof line === 'string' ? line.split(' ') : line
    const ended = earlier.then(() => {
      const answer = once(child, 'message') as Promise<[Ended]>
      child.send({ words, environment })
      return Promise.race([answer.then(([one]) => one), died])
    })
    earlier = ended.catch(() => {})
    return ended
  }
}

/** Returns the JSON objects of an output that has one a line. */
export const parseLines = (out: string): Record<string, unknown>[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** Runs a command in a process of its own, with this text on its standard input. */
export function runAsProcess(
  words: readonly string[],
  environment: Environment,
  input: string,
): Promise<Ended> {
  const options = { cwd: root, env: { ...bareEnvironment, ...environment } }
  return new Promise((done) => {
    const line = ['src/cli/cli.ts', ...words]
    const child = execFile(process.execPath, line, options, (error, out, err) =>
      done({ status: error === null ? 0 : Number(error.code), out, err }),
    )
    child.stdin?.end(input)
  })
}

class Exit extends Error {}

let calls = 0

async function run(words: readonly string[], environment: Environment): Promise<Ended> {
  let [out, err] = ['', '']
  process.stdout.write = (text: unknown) => {
    out += String(text)
    return true
  }
  process.stderr.write = (text: unknown) => {
    err += String(text)
    return true
  }
  process.exit = (code) => {
    process.exitCode = code
    throw new Exit()
  }
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, bareEnvironment, environment)
  process.argv.splice(2, Infinity, ...words)
  process.exitCode = undefined
  calls += 1
  try {
    await import(`../../src/cli/cli.ts?call=${calls}`)
  } catch (error) {
    if (!(error instanceof Exit)) {
      process.exitCode = 1
      err += `${(error as Error).stack}\n`
    }
  }
  return { status: process.exitCode ?? 0, out, err }
}

if (process.argv[1] === import.meta.filename)
  process.on('message', (call: { words: readonly string[]; environment: Environment }) => {
    void run(call.words, call.environment).then((ended) => process.send?.(ended))
  })
