// What a command of the line is: its words, arguments, options, what help says of it, and what it does. commands.ts has all
// of them; arguments.ts reads a line by them, help.ts prints them.

/** One option, as parseArgs takes it and as help tells it. */
export interface Option {
  readonly type: 'string' | 'boolean'
  /** What stands for its value in help, such as `NAME`. */
  readonly value?: string
  readonly default?: string | boolean
  readonly required?: boolean
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

type Value<O extends Option> = O extends { type: 'boolean' }
  ? boolean
  : O extends { required: true } | { default: string }
    ? string
    : string | undefined

/** What was given for each option. */
export type Values<O extends Options> = { readonly [Name in keyof O]: Value<O[Name]> }

/** Where a command writes; of `process`, or of a test. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

/** A line that was read. */
export interface Call<O extends Options> {
  readonly values: Values<O>
  /** One for each of the command's arguments. */
  readonly operands: readonly string[]
}

/** A command. */
export interface Command<O extends Options = Options> {
  /** Such as `keys issue`. */
  readonly name: string
  /** Names of its arguments, such as `ID`; in brackets that of one which may be left out. */
  readonly operands: readonly string[]
  readonly options: O
  /** One line. */
  readonly summary: string
  /** What else its own help says. */
  readonly notes?: string
  /** @returns the exit status; 0 when it is left out. @throws {CommandError} */
  run(call: Call<O>): Promise<number | void>
}

/** Makes a command whose `run` knows its options' types. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command
}

/** Ends a command with a sentence for whoever called it. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number

  constructor(message: string, status: number = exitStatuses.failed) {
    super(message)
    this.status = status
  }
}

/** Exit statuses: a verdict's own, or one of sysexits for what never became a run. */
export const exitStatuses = {
  AC: 0,
  WA: 1,
  failed: 1,
  CE: 2,
  RE: 3,
  TLE: 4,
  MLE: 5,
  OLE: 6,
  IE: 70,
  usage: 64,
  refused: 65,
  noInput: 66,
  unavailable: 69,
  unauthorized: 77,
  config: 78,
} as const
