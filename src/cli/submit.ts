// The commands `submit FILE` and `cancel ID`, which call a service as its customers do. `submit` prints the program's stdout and
// stderr, a line for each test, then a line with the result; its exit status follows the verdict.
import { RunledgerError, createClient } from '#client'
import type { Result } from '#client'
import { CommandError, defineCommand, exitStatuses, flag, misuse } from './command.ts'
import type { Terminal } from './command.ts'
import { uploadLongTexts } from './long-text.ts'
import { printJson, printable } from './output.ts'
import { readService, serviceOptions, statusOf } from './service.ts'
import { InterruptedError, streamVisibly } from './stream.ts'
import type { OnInterrupt } from './stream.ts'
import { readRequest, requestOptions } from './submission-request.ts'
import type { RequestWords } from './submission-request.ts'
import { nameEnd, present, saveOutputFiles } from './submit-output.ts'

const verdictNotes =
  'One of FILE, --stdin and --expected may be - for standard input; with - as FILE, --language is required.\n' +
  'Give an argument that begins with - as --arg=-v. A test is named after its IN file.\n' +
  'The program’s stdout is printed on stdout, its stderr or the compiler’s messages on stderr, then the verdict and figures;\n' +
  'with tests, those of the first test that is not AC, after a line for each test: name, verdict, figures, difference.\n' +
  'Output files are saved whatever the verdict, and overwrite existing files; with --json they are only in the record.\n' +
  'Exit status: AC 0, WA 1, CE 2, RE 3, TLE 4, MLE 5, OLE 6, cancelled 7, IE 70; with --no-wait 0 when stored. On\n' +
  'failure: 64 wrong arguments, 65 refused by the service, 66 a file cannot be read, 69 the service is unreachable, 73 an output file\n' +
  'cannot be saved, 77 the key is not valid.'

export const submitCommands = [
  defineCommand({
    name: 'submit',
    operands: ['FILE'],
    summary: 'run a program on a service, print its output, exit with its verdict',
    notes: verdictNotes,
    options: {
      ...requestOptions,
      wait: flag('print the id, and do not wait for the result', true),
      stream: flag(
        'print output as it comes; Ctrl-C cancels the submission, a second Ctrl-C exits at once',
      ),
      json: flag('print the record as JSON instead of the output'),
      ...serviceOptions,
    },
    run: ({ operands: [file = ''], values }) => {
      if ([file, values.stdin, values.expected].filter((name) => name === '-').length > 1)
        throw misuse('submit: only one of FILE, --stdin and --expected may be -')
      return submitFile({ ...values, file, onInterrupt, ...readService(values) }, process)
    },
  }),
  defineCommand({
    name: 'cancel',
    operands: ['ID'],
    summary: 'cancel a submission: it is killed if it runs, its output is kept',
    notes:
      'Prints `cancelled`, or the verdict if the submission had ended before. Exit status: 0; 65 the key has no such submission,\n' +
      '69 the service is unreachable, 77 the key is not valid.',
    options: { json: flag('print the record as JSON'), ...serviceOptions },
    run: ({ operands: [id = ''], values }) =>
      cancelSubmission({ id, json: values.json, ...readService(values) }, process),
  }),
]

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

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener)
  return () => process.off('SIGINT', listener)
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
    const result =
      call.stream === true
        ? await streamVisibly(client, asked, call, terminal)
        : await client.run(asked)
    return finish(call, result, terminal)
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

function accept(accepted: { readonly id: string }, json: boolean, { stdout }: Terminal): number {
  const isPlain = stdout.isTTY === true && !json
  stdout.write(isPlain ? `${accepted.id}\n` : `${JSON.stringify(accepted)}\n`)
  return 0
}

/**
 * Prints the result and saves the output files. A file that the program has not written leaves the exit status as it is.
 * @returns the exit status.
 * @throws {CommandError} when a file cannot be saved.
 */
async function finish(call: SubmitCall, result: Result, terminal: Terminal): Promise<number> {
  const isStreamed = call.stream === true
  const status = exitStatuses[nameEnd(result)]
  if (call.json) {
    if (!isStreamed) printJson(result, terminal)
    return status
  }
  present(result, terminal, isStreamed)
  const { 'output-file': outputFiles = [], 'output-directory': directory = '.' } = call
  await saveOutputFiles(outputFiles, result, directory, terminal)
  return status
}
