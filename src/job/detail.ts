// What a submission asks beside its code and its input: how it is kept (runledger.body.detail), and read again by a worker.
import * as v from 'valibot'
import type { BuiltInChecker } from '#checker'
import { stringifyBytes } from '#event'
import { languages } from '#language'
import type { Language, PhaseLimits } from '#language'

/** What is left out was not asked for. */
export interface Detail {
  /** The program's arguments. */
  readonly arguments?: readonly string[]
  /** Appended to the compiler's. */
  readonly compileArguments?: readonly string[]
  readonly files?: readonly DetailFile[]
  readonly limits?: OwnLimits
  /** Names of files that are told of when the program has left them: relative paths. */
  readonly outputFiles?: readonly string[]
  /** The program runs once for each, in place of once. */
  readonly tests?: readonly Test[]
  /** The tests after the first that is not accepted are not run. */
  readonly stopOnFailure?: true
  /** How outputs are judged. */
  readonly checker?: BuiltInChecker | ProgramChecker
  /** The SHA-256 of a blob, hexadecimal: the input, which then is empty otherwise. */
  readonly stdinBlob?: string
  /** Likewise what is expected. */
  readonly expectedStdoutBlob?: string
}

/** A program that judges: its exit status tells. */
export interface ProgramChecker {
  readonly type: 'program'
  readonly language: Language
  readonly code: Uint8Array
  readonly compileArguments?: readonly string[]
  /** Beside its code. */
  readonly files?: readonly DetailFile[]
}

export interface Test {
  readonly name?: string
  readonly stdin: Uint8Array
  /** Null: any output will do. */
  readonly expectedStdout: Uint8Array | null
  /** In place of the submission's. */
  readonly arguments?: readonly string[]
  /** As `Detail` has them. */
  readonly stdinBlob?: string
  readonly expectedStdoutBlob?: string
}

/** A file that lies beside the program's own. */
export interface DetailFile {
  /** A relative path. */
  readonly name: string
  readonly content: Uint8Array
}

/** Limits in place of the language's, by phase. */
export interface OwnLimits {
  readonly compile?: Partial<PhaseLimits>
  readonly run?: Partial<PhaseLimits>
}

const words = v.array(v.string())
const base64 = v.pipe(
  v.string(),
  v.transform((text): Uint8Array => Buffer.from(text, 'base64')),
)
const phase = v.partial(
  v.object({
    cpuSeconds: v.number(),
    wallSeconds: v.number(),
    memoryBytes: v.number(),
    processes: v.number(),
    stdoutBytes: v.number(),
    stderrBytes: v.number(),
    diskBytes: v.number(),
  }),
)
const blobs = { stdinBlob: v.optional(v.string()), expectedStdoutBlob: v.optional(v.string()) }
const files = v.array(v.object({ name: v.string(), content: base64 }))
const schema = v.partial(
  v.object({
    arguments: words,
    compileArguments: words,
    files,
    limits: v.partial(v.object({ compile: phase, run: phase })),
    tests: v.array(
      v.object({
        name: v.optional(v.string()),
        stdin: base64,
        expectedStdout: v.nullable(base64),
        arguments: v.optional(words),
        ...blobs,
      }),
    ),
    outputFiles: words,
    stopOnFailure: v.literal(true),
    ...blobs,
    checker: v.variant('type', [
      v.object({ type: v.literal('lines') }),
      v.object({ type: v.literal('exact') }),
      v.object({ type: v.literal('tokens') }),
      v.object({ type: v.literal('unordered_lines') }),
      v.object({
        type: v.literal('floats'),
        absolute: v.optional(v.number()),
        relative: v.optional(v.number()),
      }),
      v.object({
        type: v.literal('program'),
        language: v.picklist(languages),
        code: base64,
        compileArguments: v.optional(words),
        files: v.optional(files),
      }),
    ]),
  }),
)

// What a worker of a release before would leave out without a word.
const isAsked = {
  output_files: ({ outputFiles }) => outputFiles !== undefined,
  blobs: ({ tests = [], ...alone }) => [alone, ...tests].some(namesBlob),
} as const satisfies Readonly<Record<string, (detail: Detail) => boolean>>

function namesBlob({ stdinBlob, expectedStdoutBlob }: Pick<Test, BlobField>): boolean {
  return stdinBlob !== undefined || expectedStdoutBlob !== undefined
}

type BlobField = 'stdinBlob' | 'expectedStdoutBlob'

/** What not every worker can do. */
export type Ability = keyof typeof isAsked

/** What workers of this release can do, where their hosts let them. */
export const abilities = Object.keys(isAsked) as readonly Ability[]

/** What a worker with this executor cannot do. */
export function listLacks(executor: { readonly readsOutputFiles: boolean }): readonly Ability[] {
  return executor.readsOutputFiles ? [] : ['output_files']
}

/** What a worker must be able to do. */
export function listDemands(detail: Detail): readonly Ability[] {
  return abilities.filter((ability) => isAsked[ability](detail))
}

// The event, the request's digest and the body ask for the same bytes, which may be a megabyte and more.
const encoded = new WeakMap<Detail, Buffer>()

/** As bytes; null when nothing was asked. */
export function encodeDetail(detail: Detail): Buffer | null {
  if (Object.keys(detail).length === 0) return null
  const bytes = encoded.get(detail) ?? Buffer.from(stringifyBytes(detail))
  encoded.set(detail, bytes)
  return bytes
}

/** @throws when the bytes are not what `encodeDetail` makes. */
export function decodeDetail(bytes: Uint8Array | null): Detail {
  if (bytes === null) return {}
  const read = v.parse(schema, JSON.parse(Buffer.from(bytes).toString()))
  // Exactly what was asked: a field that was left out is none.
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined))
}
