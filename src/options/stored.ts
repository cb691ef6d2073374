// Options as they are stored (runledger.body.detail) and read by a worker: the JSON of the request's fields.
import type { Options } from './schema.ts'

// A worker of an earlier release would silently ignore these options.
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

/** An option that not every worker supports. */
type Capability = keyof typeof isAsked

/** The capabilities of workers of this release. */
export const capabilities = Object.keys(isAsked) as readonly Capability[]

/** Lists the capabilities that the options require of a worker. */
export function listRequired(options: Options): readonly Capability[] {
  return capabilities.filter((capability) => isAsked[capability](options))
}

// Cached because the event, the request's digest and the body need the same bytes, which may be a megabyte and more.
const encoded = new WeakMap<Options, Buffer>()

/** Encodes options as bytes; null when no option is set. */
export function encodeOptions(options: Options): Buffer | null {
  if (Object.keys(options).length === 0) return null
  const bytes = encoded.get(options) ?? Buffer.from(JSON.stringify(options))
  encoded.set(options, bytes)
  return bytes
}

/** Decodes options. @param bytes of `encodeOptions`; the rules in force when they were received were applied then. */
export function decodeOptions(bytes: Uint8Array | null): Options {
  return bytes === null ? {} : (JSON.parse(Buffer.from(bytes).toString()) as Options)
}
