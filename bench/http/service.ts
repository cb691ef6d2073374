// The service as a bench talks to it: the Procfile's processes, each its own, and an HTTP client that keeps connections.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import { isPlain } from '../options.ts'

/** A running process of ours; disposing of it is SIGTERM and waiting for its end. */
export interface Service extends AsyncDisposable {
  /** What it logged when it was ready. */
  readonly started: Readonly<Record<string, unknown>>
}

/** How else a process is started. */
export interface ServiceOptions {
  /** A command that runs the rest of its line, such as `nsenter … --`. */
  readonly within?: readonly string[]
  /** The entry's own. */
  readonly parameters?: readonly string[]
}

/**
 * Starts an entry and resolves when it has logged `message`.
 * @throws when it ends before, with everything it said.
 */
export async function startService(
  entry: string,
  message: string,
  environment: Readonly<Record<string, string>>,
  { within = [], parameters = [] }: ServiceOptions = {},
): Promise<Service> {
  const command = [...within, process.execPath, ...(await readFlags()), entry, ...parameters]
  const child = spawn('setpriv', ['--pdeathsig', 'SIGTERM', '--', ...command], {
    // A worker tries every language that it has, and prepares some, beside what is measured.
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
      // Once it runs its log is read and dropped, as a platform's log router would take it.
      // A worker that does without its keeper, say, gives figures of something else.
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

/** What web process and worker are given as Node's flags. */
async function readFlags(): Promise<string[]> {
  const launcher = await readFile('runledger', 'utf8')
  return /^heap='(.*)'$/m.exec(launcher)?.[1]?.split(' ') ?? []
}

/** Submits programs and waits for their end. */
export interface Client extends AsyncDisposable {
  /** Throws unless the program ends with AC and has printed just this. */
  run(code: string, stdout: string): Promise<void>
}

/** @param connections kept alive; each carries one request at a time. */
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
