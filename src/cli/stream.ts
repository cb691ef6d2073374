// `submit --stream`: prints a submission's output as it comes. The first Ctrl-C cancels the submission, the second one leaves.
import type { Client, Result, StreamEvent, SubmissionRequest } from '#client'
import type { Terminal } from './command.ts'
import { printJson, show } from './output.ts'
import { describeStreamedTest } from './submit-output.ts'

/** Calls the listener at each interrupt by the caller. @returns a function that removes the listener. */
export type OnInterrupt = (listener: () => void) => () => void

interface StreamCall {
  /** Prints events as JSON lines. */
  readonly json: boolean
  readonly onInterrupt?: OnInterrupt
}

/** The caller has left; the submission may continue or not. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Submits and prints all events. @returns the final record; with `json` it is printed already. @throws {InterruptedError} */
export async function streamVisibly(
  client: Client,
  request: SubmissionRequest,
  { json, onInterrupt = () => () => {} }: StreamCall,
  terminal: Terminal,
): Promise<Result> {
  const left = new AbortController()
  let id: string | null = null
  let isCancelled = false
  // A failed cancel is ignored, because the stream reports how the submission ends.
  const cancel = (accepted: string): void =>
    void client.cancel(accepted, { signal: left.signal }).catch(() => {})
  const forget = onInterrupt(() => {
    if (isCancelled) left.abort(new InterruptedError('interrupted'))
    isCancelled = true
    if (id !== null) cancel(id)
  })
  const print = json
    ? ({ event, data }: StreamEvent) => printJson({ event, data }, terminal)
    : createPrinter(terminal)
  try {
    id = (await client.submit(request, { signal: left.signal })).id
    // The caller interrupted before the id was known.
    if (isCancelled) cancel(id)
    for await (const event of client.stream(id, { signal: left.signal })) {
      print(event)
      if (event.event === 'result') return event.data
    }
  } finally {
    forget()
  }
  return client.wait(id)
}

function createPrinter({ stdout, stderr }: Terminal): (event: StreamEvent) => void {
  let hasRun = false
  // stdout and stderr may be the same terminal, so a note starts on a new line.
  let isAtLineStart = true
  const write = (to: Terminal['stdout'], text: string): void => {
    if (text === '') return
    to.write(show(text, to))
    isAtLineStart = text.endsWith('\n')
  }
  const note = (line: string): void => {
    if (!isAtLineStart) (stdout.isTTY === true ? stdout : stderr).write('\n')
    isAtLineStart = true
    if (line !== '') stderr.write(`${line}\n`)
  }
  return ({ event, data }) => {
    if (event === 'compile') write(stderr, data.output)
    if (event === 'stdout' || event === 'stderr')
      write(event === 'stdout' ? stdout : stderr, 'text' in data ? data.text : atob(data.base64))
    if (event === 'test') note(describeStreamedTest(data))
    if (event === 'result') note('')
    if (event === 'status' && data.status === 'queued' && hasRun)
      note('[the worker was lost: the program starts again]')
    hasRun ||= event === 'status' && data.status === 'running'
  }
}
