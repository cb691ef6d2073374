// The type of a command. commands.ts lists all commands; arguments.ts parses command lines with them and makes their help.

/** An option as parseArgs of node:util takes it, with its help text. */
export interface Option {
  readonly type: 'string' | 'boolean'
  /** The placeholder of the value in help, such as `NAME`. */
  readonly value?: string
  readonly default?: string | boolean | string[]
  readonly required?: boolean
  /** True when the option may be repeated; its default is then an empty list. */
  readonly multiple?: boolean
  readonly help: string
}

export type Options = Readonly<Record<string, Option>>

type Value<O extends Option> = O extends { type: 'boolean' }
  ? boolean
  : O extends { multiple: true }
    ? readonly string[]
    : O extends { required: true } | { default: string }
      ? string
      : string | undefined

export type Values<O extends Options> = { readonly [Name in keyof O]: Value<O[Name]> }

/** The output streams: those of `process`, or those of a test. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

export interface Call<O extends Options> {
  readonly values: Values<O>
  /** The arguments that are no options, in order. */
  readonly operands: readonly string[]
}

export interface Command<O extends Options = Options> {
  /** Such as `keys issue`. */
  readonly name: string
  /** Argument names, such as `ID`; optional ones in brackets. */
  readonly operands: readonly string[]
  readonly options: O
  /** One line. */
  readonly summary: string
  /** Further text for the help of this command. */
  readonly notes?: string
  /** @returns the exit status; 0 when left out. @throws {CommandError} */
  run(call: Call<O>): Promise<number | void>
}

/** Defines a command and infers the types of its options. Missing operands and options are empty. */
export function defineCommand<const O extends Options = Options>(
  command: Omit<Command<O>, 'operands' | 'options'> &
    Partial<Pick<Command<O>, 'operands' | 'options'>>,
): Command {
  return { operands: [], options: {}, ...command }
}

type More = Omit<Option, 'type' | 'value' | 'help'>

/** Defines an option with a value. @param value the placeholder in help. */
export function takes<const M extends More = object>(
  value: string,
  help: string,
  more?: M,
): { readonly type: 'string'; readonly value: string; readonly help: string } & M {
  return { type: 'string', value, help, ...(more ?? ({} as M)) }
}

/** Defines an option without a value. @param preset true: the option is spelled `--no-…`. */
export function flag(
  help: string,
  preset = false,
): { readonly type: 'boolean'; readonly help: string; readonly default: boolean } {
  return { type: 'boolean', help, default: preset }
}

/** Ends a command with a message for its user. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number

  constructor(message: string, status: number = exitStatuses.failed) {
    super(message)
    this.status = status
  }
}

/** Returns the error for a wrong command line. */
export function misuse(what: string): CommandError {
  return new CommandError(what, exitStatuses.usage)
}

/** The exit status of each verdict, and statuses of sysexits.h for when nothing was run. */
export const exitStatuses = {
  AC: 0,
  WA: 1,
  failed: 1,
  CE: 2,
  RE: 3,
  TLE: 4,
  MLE: 5,
  OLE: 6,
  cancelled: 7,
  IE: 70,
  usage: 64,
  refused: 65,
  noInput: 66,
  noOutput: 73,
  unavailable: 69,
  unauthorized: 77,
  config: 78,
  /** As in shells: 128 + SIGINT. */
  interrupted: 130,
} as const
