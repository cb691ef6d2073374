// Reads event streams as a browser's EventSource does, and checks what must be true of every stream.
import { request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  // eslint-disable-next-line typescript/no-explicit-any -- a test may look at any field
  readonly data: any
  /** When the event was read, by performance.now(). */
  readonly at: number
}

export interface OpenStream {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The events so far. */
  readonly events: readonly StreamEvent[]
  readonly comments: () => number
  /** Resolves with the first event that passes. @throws when the stream ends before. */
  until(passes: (event: StreamEvent) => boolean): Promise<StreamEvent>
  /** Resolves with all events when the connection has ended for any reason. */
  readonly ended: Promise<readonly StreamEvent[]>
  /** Returns the body of an answer that is no stream. */
  readonly text: () => string
  readonly response: IncomingMessage
  close(): void
}

export interface StreamCall {
  readonly port: number
  readonly key: string
  readonly path: string
  readonly body?: object
  readonly lastEventId?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly onEvent?: (event: StreamEvent) => void
}

/** Opens a stream. @throws when there is no answer. */
export function openStream(call: StreamCall): Promise<OpenStream> {
  const { port, key, path, body, lastEventId, headers = {}, onEvent } = call
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      method: body === undefined ? 'GET' : 'POST',
      agent: false,
      // The service sends a comment every 15 s, later on a busy machine.
      timeout: 60_000,
      headers: {
        'X-API-Key': key,
        Accept: 'text/event-stream',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
        ...headers,
      },
    })
    request.once('error', reject)
    request.once('timeout', () => request.destroy())
    request.once('response', (response) => {
      request.on('error', () => {})
      resolve(followResponse(response, onEvent))
    })
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function followResponse(
  response: IncomingMessage,
  onEvent: StreamCall['onEvent'] = () => {},
): OpenStream {
  const events: StreamEvent[] = []
  const watchers = new Set<() => void>()
  let comments = 0
  let all = ''
  let rest = ''
  let isOver = false
  response.setEncoding('utf8').on('data', (text: string) => {
    if (response.headers['content-type']?.startsWith('text/event-stream') !== true) all += text
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.startsWith(':')) comments += 1
      const event = parseEvent(block)
      if (event === null) continue
      events.push(event)
      onEvent(event)
    }
    for (const check of watchers) check()
  })
  response.on('error', () => {})
  const ended = new Promise<readonly StreamEvent[]>((resolve) => {
    response.once('close', () => {
      isOver = true
      resolve(events)
      for (const check of watchers) check()
    })
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments: () => comments,
    until: (passes) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = events.find(passes)
          if (found === undefined && !isOver) return
          watchers.delete(check)
          if (found !== undefined) resolve(found)
          else reject(new Error(`ended before: ${JSON.stringify(events).slice(0, 500)}`))
        }
        watchers.add(check)
        check()
      }),
    ended,
    text: () => all,
    response,
    close: () => response.destroy(),
  }
}

function parseEvent(block: string): StreamEvent | null {
  const fields = new Map(
    block.split('\n').map((line) => {
      const [name = '', ...value] = line.split(': ')
      return [name, value.join(': ')] as const
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return null
  const at = performance.now()
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? '',
    data: JSON.parse(data),
    at,
  }
}

/** Joins the output of the last attempt. @throws when a byte is missing or comes twice. */
export function joinOutput(events: readonly StreamEvent[], output: 'stdout' | 'stderr'): Buffer {
  let whole = Buffer.alloc(0)
  for (const { event, data } of events) {
    if (event === 'status' && data.status === 'queued') whole = Buffer.alloc(0)
    if (event !== output) continue
    if (data.offset !== whole.length)
      throw new Error(`${output} goes on at ${data.offset}, and stands at ${whole.length}`)
    const bytes = 'base64' in data ? Buffer.from(data.base64, 'base64') : Buffer.from(data.text)
    whole = Buffer.concat([whole, bytes])
  }
  return whole
}

/** Checks the events of a stream that was followed from its beginning to its end. @returns a sentence for each flaw. */
export function findFlaws(events: readonly StreamEvent[]): string[] {
  const flaws: string[] = []
  const names = events.map(({ event }) => event)
  if (names[0] !== 'submitted') flaws.push(`begins with ${names[0]}`)
  if (names.at(-1) !== 'result') flaws.push(`ends with ${names.at(-1)}`)
  if (names.filter((name) => name === 'result').length > 1) flaws.push('more than one result')
  if (names.filter((name) => name === 'submitted').length > 1) flaws.push('submitted twice')
  if (new Set(events.map(({ id }) => id)).size !== events.length) flaws.push('a position twice')
  const record = events.at(-1)?.data
  for (const output of ['stdout', 'stderr'] as const) {
    try {
      const told = joinOutput(events, output)
      if (record?.tests === null && record.status === 'completed' && !isSame(told, record[output]))
        flaws.push(`${output} is not the record's: ${told.length} bytes`)
    } catch (error) {
      flaws.push((error as Error).message)
    }
  }
  return flaws
}

/** Compares an output with the record's, which may be text or base64. */
function isSame(told: Buffer, recorded: string): boolean {
  return told.toString() === recorded || told.toString('base64') === recorded
}

/** Follows a stream to its end, and connects again as often as needed, each time to the port that `port` returns. */
export async function followToEnd(
  call: Omit<StreamCall, 'port' | 'body'> & {
    readonly port: () => number
    /** True when the stream must not be opened again. */
    readonly isGivenUp?: () => boolean
  },
  pauseMilliseconds = 100,
): Promise<{ readonly events: readonly StreamEvent[]; readonly times: number }> {
  const events: StreamEvent[] = []
  for (let times = 1; ; times += 1) {
    const last = events.at(-1)?.id
    try {
      const stream = await openStream({
        ...call,
        port: call.port(),
        ...(last !== undefined && { lastEventId: last }),
      })
      if (stream.status === 404) throw new Error('not found')
      events.push(...(await stream.ended))
    } catch (error) {
      if ((error as Error).message === 'not found') throw error
    }
    const isOver = events.at(-1)?.event === 'result'
    if (isOver || call.isGivenUp?.() === true) return { events, times }
    await sleep(pauseMilliseconds)
  }
}
