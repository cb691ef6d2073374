// Reads a JSON body that may be hostile: refused by its headers where they suffice, bounded while it arrives, decoded
// strictly.
import { Problem } from '#error'
import type { ApiRequest } from './request.ts'

/** Bytes of a body at most. Two fields of 64 KiB, a third one like them, and JSON's escapes fit ten times over. */
export const bodyLimitBytes = 2 * 1024 * 1024

/**
 * Reads and parses the body.
 * @throws {Problem} 415 for another media type or any content encoding; 400 for what is no JSON or too large.
 */
export async function readJson(request: ApiRequest): Promise<unknown> {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/json') {
    throw new Problem('unsupported_media_type', 'Content-Type must be application/json.')
  }
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Problem(
      'unsupported_media_type',
      'Content-Encoding is not supported: send the body as it is.',
    )
  }
  return parse(await readBytes(request))
}

async function readBytes(request: ApiRequest): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bodyLimitBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let length = 0
  try {
    // Leaving the loop must not destroy the connection that the answer goes out on.
    for await (const chunk of request.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      length += chunk.byteLength
      if (length > bodyLimitBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    // The connection broke while the body was arriving: nobody is there to be told.
    throw new Problem('invalid_request', 'The body ended before it was complete.')
  }
  return Buffer.concat(chunks, length)
}

function parse(bytes: Buffer): unknown {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalid('is not valid UTF-8')
  }
  if (text.startsWith('\uFEFF')) throw invalid('starts with a byte-order mark')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`is not valid JSON${describe(error)}`)
  }
}

// V8 quotes the input in its message; the position is all a caller needs, and quotes none of the code.
function describe(error: unknown): string {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (at character ${position})`
}

function invalid(what: string): Problem {
  return new Problem('invalid_request', `The body ${what}.`, {
    issues: [{ path: '', message: what }],
  })
}

// The rest of the body is not read, so the connection cannot carry another request.
function tooLarge(): Problem {
  const message = `is larger than ${bodyLimitBytes} bytes`
  return new Problem('invalid_request', `The body ${message}.`, {
    issues: [{ path: '', message }],
    headers: { Connection: 'close' },
  })
}
