// Bounds the memory of answers that clients have not taken yet. A record may be tens of megabytes, and a client may read
// slowly. When all unsent answers together hold too much, the oldest answer of the key that holds most is cut off, and its
// client asks again.
import type { Response } from 'polka'

/** Smaller answers are bounded by the number of connections. */
const noticedBytes = 256 * 1024

/**
 * Counts the bytes. Call it before they are given to the response; several answers may share the same bytes.
 * @returns a function to call when the bytes are taken, unless the response ends with them.
 */
type NoteUnsent = (response: Response, key: string, bytes: Buffer) => () => void

/** @param bytesMost the limit of all answers together; bytes that several answers share count once. */
export function createUnsentAnswers(bytesMost = 256 * 1024 * 1024): NoteUnsent {
  const all = new Set<{
    readonly key: string
    readonly response: Response
    readonly bytes: Buffer
  }>()

  function measure(): { readonly total: number; readonly largestKey: string } {
    const bytes = new Set<Buffer>()
    const byKey = new Map<string, number>()
    for (const one of all) {
      bytes.add(one.bytes)
      byKey.set(one.key, (byKey.get(one.key) ?? 0) + one.bytes.length)
    }
    const [largestKey = ''] = [...byKey].toSorted(([, a], [, b]) => b - a)[0] ?? []
    return { total: bytes.values().reduce((sum, { length }) => sum + length, 0), largestKey }
  }

  return (response, key, bytes) => {
    // A response that is closed emits no further event, and holds no bytes.
    if (bytes.length < noticedBytes || response.destroyed) return () => {}
    const one = { key, response, bytes }
    all.add(one)
    const taken = (): void => {
      all.delete(one)
      response.off('close', taken)
    }
    response.once('close', taken)
    for (;;) {
      const { total, largestKey } = measure()
      const oldest = all.values().find((unsent) => unsent.key === largestKey)
      if (total <= bytesMost || oldest === undefined) return taken
      all.delete(oldest)
      oldest.response.destroy()
    }
  }
}

/** Counts the unsent answers of this process. */
export const noteUnsent = createUnsentAnswers()
