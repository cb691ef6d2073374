// Options as they are kept (runledger.body.detail) and read again by a worker: the JSON of the request's own fields.
import type { Options } from './schema.ts'

// What a worker of a release before would leave out without a word.
const isAsked = {
  output_files: ({ output_files: names = [] }) => names.length > 0,
  env: ({ env = {} }) => Object.keys(env).length > 0,
  network: ({ network }) => network === 'loopback',
  merge_stderr: ({ merge_stderr: merges }) => merges === true,
  interactor: ({ interactor }) => interactor !== undefined,
  points: ({ tests = [], groups }) =>
    groups !== undefined || tests.some(({ points }) => points !== undefined),
  blobs: ({ tests = [], ...alone }) =>
    [alone, ...tests].some(
      (given) => given.stdin_sha256 !== undefined || given.expected_stdout_sha256 !== undefined,
    ),
} as const satisfies Readonly<Record<string, (options: Options) => boolean>>

/** What not every worker can do. */
export type Capability = keyof typeof isAsked

/** What workers of this release can do. */
export const capabilities = Object.keys(isAsked) as readonly Capability[]

/** What the options require of a worker. */
export function listRequired(options: Options): readonly Capability[] {
  return capabilities.filter((capability) => isAsked[capability](options))
}

// The event, the request's digest and the body ask for the same bytes, which may be a megabyte and more.
const encoded = new WeakMap<Options, Buffer>()

/** As bytes; null when nothing was asked. */
export function encodeOptions(options: Options): Buffer | null {
  if (Object.keys(options).length === 0) return null
  const bytes = encoded.get(options) ?? Buffer.from(JSON.stringify(options))
  encoded.set(options, bytes)
  return bytes
}

/** @param bytes of `encodeOptions`: they were judged when they were received, by the rules of that day. */
export function decodeOptions(bytes: Uint8Array | null): Options {
  return bytes === null ? {} : (JSON.parse(Buffer.from(bytes).toString()) as Options)
}
