// Files that a run has left, as a report keeps them and a record tells them.
import { digestBody } from '#event'

export interface ToldFile<Content = Uint8Array> {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Hexadecimal; null without content. */
  readonly sha256: string | null
  /** Null when it did not fit beside those before it. */
  readonly content: Content | null
}

/** @param files as an executor tells them. */
export function tellFiles(
  files: readonly Pick<ToldFile, 'name' | 'size' | 'content'>[],
): ToldFile[] {
  return files.map(({ name, size, content }) => ({
    name,
    size,
    sha256: content === null ? null : digestBody(content).sha256,
    content,
  }))
}
