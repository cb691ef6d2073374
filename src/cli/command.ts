// What a command is. commands.ts has all of them; arguments.ts reads lines by them, help.ts prints them.

/** As parseArgs of node:util takes them, with what help says. */
export interface Option {
  readonly type: 'string' | 'boolean'
  /** Its value's placeholder in help, such as `NAME`. */
  readonly value?: string
  readonly default?: string | boolean | string[]
  readonly required?: boolean
  /** May be given again and again; its default is an empty list. */
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

/** `process`, or a test's. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
}

export interface Call<O extends Options> {
  readonly values: Values<O>
  /** One for each argument. */
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
  /** More for its own help. */
  readonly notes?: string
  /** @returns the exit status; 0 when left out. @throws {CommandError} */
  run(call: Call<O>): Promise<number | void>
}

/** Infers the options' types. What is left out is empty. */
export function defineCommand<const O extends Options = Options>(
  command: Omit<Command<O>, 'operands' | 'options'> &
    Partial<Pick<Command<O>, 'operands' | 'options'>>,
): Command {
  return { operands: [], options: {}, ...command }
}

/** Ends a command with a sentence for its caller. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number

  constructor(message: string, status: number = exitStatuses.failed) {
    super(message)
    this.status = status
  }
}

/** Of a command that was called in a way that has no sense. */
export function misuse(what: string): CommandError {
  return new CommandError(what, exitStatuses.usage)
}

/** By verdict, or from sysexits where nothing was run. */
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
  /** Of shells: 128 + SIGINT. */
  interrupted: 130,
} as const
