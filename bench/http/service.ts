// The service for benches: starts the Procfile's processes, and an HTTP client that keeps connections.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import { isPlain } from '../options.ts'

/** A running process of the service. Disposing of it sends SIGTERM and waits until the process has exited. */
export interface Service extends AsyncDisposable {
  /** The fields of the log line that the process writes when it is ready. */
  readonly started: Readonly<Record<string, unknown>>
}

/** Optional settings for starting a process. */
export interface ServiceOptions {
  /** A command that runs the rest of its line, such as `nsenter … --`. */
  readonly within?: readonly string[]
  /** Arguments for the entry. */
  readonly parameters?: readonly string[]
}

/**
 * Starts an entry and resolves when the process has logged `message`.
 * @throws when the process exits before that; the error contains all of its output.
 */
export async function startService(
  entry: string,
  message: string,
  environment: Readonly<Record<string, string>>,
  { within = [], parameters = [] }: ServiceOptions = {},
): Promise<Service> {
  const command = [...within, process.execPath, ...(await readFlags()), entry, ...parameters]
  const child = spawn('setpriv', ['--pdeathsig', 'SIGTERM', '--', ...command], {
    // Python only: a worker tests every language that it offers and prepares some, which would run beside the measurement.
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      LANGUAGES: 'python',
      ACCELERATORS: isPlain ? 'off' : 'on',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const started = await new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      // All output is read, as a platform's log router would do. Warnings are printed, because they can mean that something
      // else is measured, for example a worker without its keeper.
      if (line.includes('"level":"warn"'))
        process.stderr.write(`  ${entry}: ${readWarning(line)}\n`)
      if (!line.includes(`"msg":"${message}"`)) said += `${line}\n`
      else resolve(JSON.parse(line))
    })
    child.once('exit', () => reject(new Error(`${entry} ended before it was ready:\n${said}`)))
    child.once('error', reject)
  })
  return {
    started,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

function readWarning(line: string): string {
  const { msg, reason, err }: { msg?: string; reason?: string; err?: { message: string } } =
    JSON.parse(line)
  return [msg, reason ?? err?.message].filter((word) => word !== undefined).join(': ')
}

/** Reads the Node flags that the launcher gives the web process and the worker. */
async function readFlags(): Promise<string[]> {
  const launcher = await readFile('runledger', 'utf8')
  return /^heap='(.*)'$/m.exec(launcher)?.[1]?.split(' ') ?? []
}

/** Submits programs and waits for their results. */
export interface Client extends AsyncDisposable {
  /** Runs a Python program. Throws unless its verdict is AC and it printed exactly `stdout`. */
  run(code: string, stdout: string): Promise<void>
}

/** Creates a client. @param connections how many are kept alive; each carries one request at a time. */
export function createClient(port: number, key: string, connections: number): Client {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections })
  return {
    async run(code, stdout) {
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/api/submit?wait=true',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ language: 'python', code }),
      })
      const text = await body.text()
      assert.equal(statusCode, 200, text)
      const record: { verdict: string; stdout: string } = JSON.parse(text)
      assert.equal(record.verdict, 'AC', text)
      assert.equal(record.stdout, stdout, text)
    },
    [Symbol.asyncDispose]: () => pool.close(),
  }
}
