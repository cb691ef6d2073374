// Serves the console: the page of `GET /` and its assets, as build.ts made them, from one bundle in memory.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The bundle that build.ts writes. */
export const bundleFile = join(import.meta.dirname, 'dist', 'console.json')

/** The path prefix of all files but the page itself. Their names hold the hash of their content. */
export const assetPrefix = '/console/'

/** The encodings in which each file is stored. */
export const encodings = ['br', 'gzip', 'identity'] as const
export type Encoding = (typeof encodings)[number]

/** A file of the page. */
export interface ConsoleFile {
  /** Such as `/` or `/console/main-ABCD.js`. */
  readonly path: string
  readonly contentType: string
  /** The hash of the content, in quotes as the ETag header needs it. */
  readonly tag: string
  readonly bytes: Readonly<Record<Encoding, Buffer>>
}

/** A file as the bundle stores it, with its bytes in base64. */
export interface BundledFile extends Omit<ConsoleFile, 'bytes'> {
  readonly bytes: Readonly<Record<Encoding, string>>
}

/** Returns the file of a path; undefined when the page has none. */
export type Console = (path: string) => ConsoleFile | undefined

/**
 * Reads the bundle on the first request for it, so that a process whose console nobody opens starts as fast and stays as small
 * as one without a console. A checkout without a bundle has no page and serves everything else.
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
