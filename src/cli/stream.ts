// `submit --stream`: prints what a submission writes as it comes. The first Ctrl-C cancels it, the second one leaves.
import type { Client, Result, StreamEvent, SubmissionRequest } from '#client'
import type { Terminal } from './command.ts'
import { printJson, show } from './output.ts'
import { describeStreamedTest } from './test-lines.ts'

/** Calls the listener each time that the caller wants it to end. @returns what removes it. */
export type OnInterrupt = (listener: () => void) => () => void

interface StreamCall {
  /** Events as JSON lines. */
  readonly json: boolean
  readonly onInterrupt?: OnInterrupt
}

/** The caller has left: it may go on or not. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** @returns the record of the end, which is printed already if it is wanted as JSON. @throws {InterruptedError} */
export async function streamVisibly(
  client: Client,
  request: SubmissionRequest,
  { json, onInterrupt = () => () => {} }: StreamCall,
  terminal: Terminal,
): Promise<Result> {
  const left = new AbortController()
  let id: string | null = null
  let isTakenBack = false
  // The stream reports its end.
  const takeBack = (accepted: string): void =>
    void client.cancel(accepted, { signal: left.signal }).catch(() => {})
  const forget = onInterrupt(() => {
    if (isTakenBack) left.abort(new InterruptedError('interrupted'))
    isTakenBack = true
    if (id !== null) takeBack(id)
  })
  const print = json ? printLine : createPrinter(terminal)
  try {
    id = (await client.submit(request, { signal: left.signal })).id
    // Asked for while it was on its way.
    if (isTakenBack) takeBack(id)
    for await (const event of client.stream(id, { signal: left.signal })) {
      print(event, terminal)
      if (event.event === 'result') return event.data
    }
  } finally {
    forget()
  }
  return client.wait(id)
}

function printLine({ event, data }: StreamEvent, terminal: Terminal): void {
  printJson({ event, data }, terminal)
}

function createPrinter({ stdout, stderr }: Terminal): (event: StreamEvent) => void {
  let hasRun = false
  // On one terminal, a line that is not ours begins anew.
  let isAtLineStart = true
  const write = (to: Terminal['stdout'], text: string): void => {
    if (text === '') return
    to.write(show(text, to))
    isAtLineStart = text.endsWith('\n')
  }
  const note = (line: string): void => {
    if (!isAtLineStart && stdout.isTTY === true) stdout.write('\n')
    if (!isAtLineStart && stdout.isTTY !== true) stderr.write('\n')
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
      note('[the worker was lost: it begins again]')
    hasRun ||= event === 'status' && data.status === 'running'
  }
}
