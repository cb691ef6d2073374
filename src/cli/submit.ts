// The commands `submit FILE` and `cancel ID`. `submit` prints the program's stdout and stderr, a line for each test, then a
// line with the result; its exit status follows the verdict. `cancel` cancels a submission.
import { styleText } from 'node:util'
import { RunledgerError, createClient } from '#client'
import type { Client, Result, SubmissionRequest } from '#client'
import { CommandError, exitStatuses } from './command.ts'
import type { Terminal } from './command.ts'
import { uploadLongTexts } from './long-text.ts'
import { saveOutputFiles } from './output-files.ts'
import { printJson, printable, show } from './output.ts'
import { InterruptedError, streamVisibly } from './stream.ts'
import type { OnInterrupt } from './stream.ts'
import { readRequest } from './submission-request.ts'
import type { RequestWords } from './submission-request.ts'
import { describeDifference, describeTests, listFigures } from './test-lines.ts'

type Verdict = NonNullable<Result['verdict']>

interface ServiceCall {
  /** Prints JSON, for errors too. */
  readonly json: boolean
  readonly url: string
  readonly apiKey: string
}

export interface SubmitCall extends RequestWords, ServiceCall {
  readonly wait: boolean
  /** Prints output as it comes. */
  readonly stream?: boolean
  /** For `stream`: how the caller interrupts. */
  readonly onInterrupt?: OnInterrupt
}

interface CancelCall extends ServiceCall {
  readonly id: string
}

/** Submits a file and prints the result. @returns the exit status; a caller's mistake is printed, not thrown. */
export async function submitFile(call: SubmitCall, terminal: Terminal): Promise<number> {
  return answer(call, terminal, async () => {
    const request = await readRequest(call).catch((error: Error) => {
      if (error instanceof TypeError) throw error
      throw new CommandError(error.message, exitStatuses.noInput)
    })
    if (call.stream === true && !call.wait)
      throw new TypeError('--stream cannot be used with --no-wait')
    const client = createClient(call)
    const asked = await uploadLongTexts(client, request)
    if (!call.wait) return accept(await client.submit(asked), call.json, terminal)
    const isStreamed = call.stream === true
    const result = isStreamed
      ? await streamVisibly(client, asked, call, terminal)
      : await waitVisibly(client, asked, terminal)
    return finish(call, result, terminal, isStreamed)
  })
}

/** Cancels a submission and resolves when it has ended, with any result. @returns as submitFile. */
export async function cancelSubmission(call: CancelCall, terminal: Terminal): Promise<number> {
  return answer(call, terminal, async () => {
    const client = createClient(call)
    await client.cancel(call.id)
    const result = await client.wait(call.id)
    if (call.json) printJson(result, terminal)
    else terminal.stdout.write(`${nameEnd(result)} ${result.id}\n`)
    return 0
  })
}

/** The error codes, for programs, of file errors by exit status. */
const fileCodes: Readonly<Record<number, string>> = {
  [exitStatuses.noInput]: 'no_input',
  [exitStatuses.noOutput]: 'no_output',
}

async function answer(
  { json }: ServiceCall,
  { stderr }: Terminal,
  work: () => Promise<number>,
): Promise<number> {
  const complain = (status: number, error: string, message: string, blame = {}): number => {
    stderr.write(`${json ? JSON.stringify({ error, message, ...blame }) : printable(message)}\n`)
    return status
  }
  try {
    return await work()
  } catch (error) {
    if (error instanceof InterruptedError) return exitStatuses.interrupted
    if (error instanceof CommandError)
      return complain(error.status, fileCodes[error.status] ?? 'failed', error.message)
    if (error instanceof TypeError) return complain(exitStatuses.usage, 'usage', error.message)
    if (!(error instanceof RunledgerError)) throw error
    const { code, message, fault, retry } = error
    return complain(statusOf(error), code, message, { fault, retry })
  }
}

/** Returns the verdict, or `cancelled`. */
function nameEnd({ status, verdict }: Result): Verdict | 'cancelled' {
  return status === 'cancelled' ? status : (verdict ?? 'IE')
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

function accept(accepted: { readonly id: string }, json: boolean, { stdout }: Terminal): number {
  const isPlain = stdout.isTTY === true && !json
  stdout.write(isPlain ? `${accepted.id}\n` : `${JSON.stringify(accepted)}\n`)
  return 0
}

/**
 * Prints the result and saves the output files. A file that the program has not written leaves the exit status as it is.
 * @param isStreamed true: with `json` the result, else a program's output or a line for each test, was printed already.
 * @returns the exit status.
 * @throws {CommandError} when a file cannot be saved.
 */
async function finish(
  call: SubmitCall,
  result: Result,
  terminal: Terminal,
  isStreamed: boolean,
): Promise<number> {
  const status = exitStatuses[nameEnd(result)]
  if (call.json) {
    if (!isStreamed) printJson(result, terminal)
    return status
  }
  present(result, terminal, isStreamed)
  const { 'output-file': outputFiles = [], 'output-directory': directory = '.' } = call
  const lines = await saveOutputFiles(outputFiles, result, directory).catch((error: Error) => {
    throw new CommandError(error.message, exitStatuses.noOutput)
  })
  for (const line of lines) terminal.stderr.write(`${printable(line)}\n`)
  return status
}

/** Prints a result for people. */
function present(result: Result, { stdout, stderr }: Terminal, isStreamed: boolean): void {
  if (!isStreamed || result.tests !== null) {
    const compiled = isStreamed ? '' : (result.compile_output ?? '')
    const output = show(result.stdout ?? '', stdout)
    stdout.write(output)
    // On a terminal, the next text must start on a new line.
    if (stdout.isTTY === true && output !== '' && !output.endsWith('\n')) stdout.write('\n')
    const messages = show(`${compiled}${result.stderr ?? ''}`, stderr)
    stderr.write(messages)
    if (messages !== '' && !messages.endsWith('\n')) stderr.write('\n')
  }
  if (!isStreamed) for (const line of describeTests(result.tests ?? [])) stderr.write(`${line}\n`)
  if (result.message !== null) stderr.write(`${result.message}\n`)
  if (result.difference !== null) stderr.write(`${describeDifference(result.difference)}\n`)
  stderr.write(`${describeEnd(result, stderr.isTTY === true)}\n`)
}

function describeEnd(result: Result, isColoured: boolean): string {
  const { id, fault, exit_code: exitCode, signal } = result
  const word = nameEnd(result)
  const isCut = result.stdout_truncated === true || result.stderr_truncated === true
  const figures = [
    ...(fault === 'platform' ? ['a fault of the service: submit it again'] : []),
    ...(fault === 'checker' ? ['a fault of the checker'] : []),
    ...(exitCode === null ? [] : [`exit ${exitCode}`]),
    ...(signal === null ? [] : [signal]),
    ...listFigures(result),
    ...(result.score === undefined ? [] : [`score ${result.score} of ${result.max_score}`]),
    ...(isCut ? ['output cut off'] : []),
  ].join(', ')
  const name = isColoured ? styleText(word === 'AC' ? 'green' : 'red', word) : word
  return `${name} ${figures}${figures === '' ? '' : '  '}${id}`
}

function statusOf({ status, code }: RunledgerError): number {
  if (code === 'quota_exceeded') return exitStatuses.refused
  if (status === 401 || status === 403) return exitStatuses.unauthorized
  return status === 400 || status === 404 ? exitStatuses.refused : exitStatuses.unavailable
}
