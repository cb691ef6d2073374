// The door to the console: the page that `GET /` shows, as build.ts made it. One file in memory, known names only.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where build.ts leaves what it made. */
export const bundleFile = join(import.meta.dirname, 'dist', 'console.json')

/** Before the names of all but the page itself; they hold the hash of what they name. */
export const assetPrefix = '/console/'

/** How a file is kept: as it is, and compressed. */
export const encodings = ['br', 'gzip', 'identity'] as const
export type Encoding = (typeof encodings)[number]

/** A file of the page. */
export interface ConsoleFile {
  /** Such as `/` or `/console/main-ABCD.js`. */
  readonly path: string
  readonly contentType: string
  /** Of its content, in quotes, as ETag has it. */
  readonly tag: string
  readonly bytes: Readonly<Record<Encoding, Buffer>>
}

/** As it stands in the bundle: bytes in base64. */
export interface BundledFile extends Omit<ConsoleFile, 'bytes'> {
  readonly bytes: Readonly<Record<Encoding, string>>
}

/** The file of that path; undefined when the page has none. */
export type Console = (path: string) => ConsoleFile | undefined

/**
 * Reads the bundle when somebody first asks for it, so that a process that nobody looks at starts as fast and is as small
 * as without. A checkout in which nothing was built has no page, and serves all else.
 */
export function createConsole(file = bundleFile): Console {
  let files: ReadonlyMap<string, ConsoleFile> | null = null
  return (path) => {
    if (path !== '/' && !path.startsWith(assetPrefix)) return undefined
    files ??= readBundle(file)
    return files?.get(path)
  }
}

function readBundle(file: string): ReadonlyMap<string, ConsoleFile> | null {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return null
  const bundled = JSON.parse(readFileSync(file, 'utf8')) as readonly BundledFile[]
  return new Map(
    bundled.map(({ bytes, ...rest }) => {
      const [br, gzip, identity] = encodings.map((name) => Buffer.from(bytes[name], 'base64'))
      return [rest.path, { ...rest, bytes: { br, gzip, identity } as ConsoleFile['bytes'] }]
    }),
  )
}
