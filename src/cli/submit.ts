// The command `submit FILE`: what a person or a script does with the API from a terminal. A person gets a spinner, the
// program's output and one line on what became of it; a script gets the record as JSON and an exit status to branch on.
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { styleText } from 'node:util'
import { RunledgerError, createClient } from '#client'
import type { Client, Result, SubmissionRequest } from '#client'
import { languagesByExtension } from '#language'

/** Where a program to submit is found. */
export interface ProgramFiles {
  readonly file: string
  /** Told from the file's name when left out. */
  readonly language?: string | undefined
  /** A file that becomes the program's standard input. */
  readonly stdinFile?: string | undefined
}

/** What was asked for. */
export interface SubmitCall extends ProgramFiles {
  /** A file that the program's output is compared with. */
  readonly expectedFile?: string | undefined
  /** Wait for the result. */
  readonly wait: boolean
  readonly url: string
  readonly apiKey: string
}

/** Where it is written. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

/** Exit statuses: a verdict's own, or one of sysexits for what never became a run. */
export const exitStatuses = {
  AC: 0,
  WA: 1,
  CE: 2,
  RE: 3,
  TLE: 4,
  MLE: 5,
  OLE: 6,
  IE: 70,
  usage: 64,
  refused: 65,
  noInput: 66,
  unavailable: 69,
  unauthorized: 77,
} as const

/** Submits a file. @returns the exit status; nothing is thrown for what a caller can get wrong. */
export async function submitFile(call: SubmitCall, terminal: Terminal): Promise<number> {
  const complain = (error: string, message: string, status: number): number => {
    terminal.stderr.write(
      terminal.stderr.isTTY === true ? `${message}\n` : `${JSON.stringify({ error, message })}\n`,
    )
    return status
  }
  let request: SubmissionRequest
  try {
    request = {
      ...(await readProgram(call)),
      ...(call.expectedFile !== undefined && {
        expected_stdout: await readText(call.expectedFile),
      }),
    }
  } catch (error) {
    const isUsage = error instanceof TypeError
    const status = isUsage ? exitStatuses.usage : exitStatuses.noInput
    return complain(isUsage ? 'usage' : 'no_input', (error as Error).message, status)
  }
  try {
    const client = createClient(call)
    return call.wait
      ? present(await waitVisibly(client, request, terminal), terminal)
      : accept(await client.submit(request), terminal)
  } catch (error) {
    if (error instanceof RunledgerError) {
      return complain(error.code, error.message, statusOf(error))
    }
    if (error instanceof TypeError) return complain('usage', error.message, exitStatuses.usage)
    throw error
  }
}

/**
 * Reads a program and its input.
 * @throws {TypeError} when the language cannot be told; {Error} when a file cannot be read or is not UTF-8.
 */
export async function readProgram(files: ProgramFiles): Promise<SubmissionRequest> {
  const { file, stdinFile } = files
  const language = files.language ?? languagesByExtension[extname(file).toLowerCase()]
  if (language === undefined) {
    throw new TypeError(
      `${basename(file)}: the language cannot be told from the name, use --language`,
    )
  }
  return {
    language,
    code: await readText(file),
    ...(stdinFile !== undefined && { stdin: await readText(stdinFile) }),
  }
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(file))
  } catch (error) {
    if (error instanceof TypeError) throw new Error(`${file}: is not UTF-8`, { cause: error })
    throw error
  }
}

async function waitVisibly(
  client: Client,
  request: SubmissionRequest,
  { stderr }: Terminal,
): Promise<Result> {
  if (stderr.isTTY !== true) return client.run(request)
  const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
  const start = performance.now()
  let frame = 0
  const spinner = setInterval(() => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    stderr.write(`\r${frames[frame % frames.length]} running, ${seconds} s`)
    frame += 1
  }, 100)
  try {
    return await client.run(request)
  } finally {
    clearInterval(spinner)
    stderr.write('\r\u001b[K')
  }
}

function accept(accepted: { readonly id: string }, { stdout }: Terminal): number {
  stdout.write(stdout.isTTY === true ? `${accepted.id}\n` : `${JSON.stringify(accepted)}\n`)
  return 0
}

function present(result: Result, { stdout, stderr }: Terminal): number {
  if (stdout.isTTY === true) {
    const {
      verdict,
      exit_code: exitCode,
      cpu_time: cpu,
      wall_time: wall,
      memory_peak: peak,
    } = result
    const output = result.stdout ?? ''
    stderr.write(printable(`${result.compile_output ?? ''}${result.stderr ?? ''}`))
    stdout.write(printable(output))
    if (output !== '' && !output.endsWith('\n')) stdout.write('\n')
    const colour = verdict === 'AC' ? 'green' : 'red'
    const mebibytes = ((peak ?? 0) / 2 ** 20).toFixed(1)
    stderr.write(
      `${styleText(colour, verdict ?? '?')} exit ${exitCode ?? '-'}, ${cpu} s CPU, ${wall} s, ${mebibytes} MiB  ${result.id}\n`,
    )
  } else {
    stdout.write(`${JSON.stringify(result)}\n`)
  }
  return exitStatuses[result.verdict ?? 'IE']
}

/** A stranger's words with what could steer a terminal replaced. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function statusOf({ status }: RunledgerError): number {
  if (status === 401 || status === 403) return exitStatuses.unauthorized
  return status === 400 ? exitStatuses.refused : exitStatuses.unavailable
}
