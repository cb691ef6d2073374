// Parses a command line with the table of commands, and makes the help texts from it.
import { parseArgs } from 'node:util'
import { describeError } from '#error-text'
import { misuse } from './command.ts'
import type { Call, Command, CommandError, Option, Options } from './command.ts'
import { alignColumns } from './output.ts'

type Reading =
  { readonly help: string } | { readonly command: Command; readonly call: Call<Options> }

/**
 * Returns the help that a command line asks for, or its command with the options and operands.
 * @throws {CommandError} for an unknown command or wrong arguments.
 */
export function readLine(commands: readonly Command[], line: readonly string[]): Reading {
  const [first = '--help'] = line
  if (['--help', '-h', 'help'].includes(first)) return { help: describeCommands(commands) }
  const command = findCommand(commands, line)
  if (command === undefined) return readGroup(commands, line)
  const rest = line.slice(command.name.split(' ').length)
  if (rest.some((word) => word === '--help' || word === '-h'))
    return { help: describeCommand(command) }
  return { command, call: readCall(command, rest) }
}

/** Finds the command with the longest matching name, so that `audit verify` is not read as `audit ID`. */
function findCommand(commands: readonly Command[], line: readonly string[]): Command | undefined {
  return commands
    .filter(({ name }) => name.split(' ').every((word, index) => line[index] === word))
    .toSorted((one, other) => other.name.split(' ').length - one.name.split(' ').length)[0]
}

/** Handles a line without a whole command name: a word such as `keys` is the first word of several commands. */
function readGroup(commands: readonly Command[], line: readonly string[]): Reading {
  const [word = '', second] = line
  const group = commands.filter(({ name }) => name.startsWith(`${word} `))
  if (group.length === 0) {
    throw misuse(
      `there is no command ${JSON.stringify(word)}; \`runledger --help\` lists the commands`,
    )
  }
  if (second === '--help' || second === '-h') return { help: describeCommands(group) }
  const fault =
    second === undefined || second.startsWith('-')
      ? `\`${word}\` needs another word`
      : `there is no command ${JSON.stringify(`${word} ${second}`)}`
  throw misuse(`${fault}:\n\n${group.map(formatUsage).join('\n')}`)
}

function readCall(command: Command, rest: readonly string[]): Call<Options> {
  const refuse = (what: string): CommandError =>
    misuse(
      `${command.name}: ${what}\n\nUsage: ${formatUsage(command)}\nMore:  runledger ${command.name} --help`,
    )
  const { operands, options } = command
  const { positionals, values } = parse(options, rest, refuse)
  if (positionals.length > operands.length)
    throw refuse(`${JSON.stringify(positionals[operands.length])} is one argument too many`)
  const missing = [
    ...operands.slice(positionals.length).filter((name) => !name.startsWith('[')),
    ...Object.entries(options)
      .filter(([name, { required }]) => required === true && (values[name] ?? '') === '')
      .map(([name, { value }]) => `--${name} ${value}`),
  ]
  if (missing.length > 0)
    throw refuse(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`)
  return { operands: positionals, values: values as Call<Options>['values'] }
}

function parse(
  options: Options,
  rest: readonly string[],
  refuse: (what: string) => CommandError,
): { positionals: string[]; values: Record<string, unknown> } {
  try {
    return parseArgs({ args: [...rest], allowPositionals: true, allowNegative: true, options })
  } catch (error) {
    throw refuse(describeError(error).split('. ')[0] ?? '')
  }
}

/** Returns the help that lists these commands. */
function describeCommands(commands: readonly Command[]): string {
  const rows = commands.map((command) => [`  ${formatWords(command)}`, command.summary])
  return [
    'Usage: runledger COMMAND',
    '',
    ...alignColumns(rows, '   '),
    '',
    '`runledger web`, `runledger worker` and `runledger migrate` are the service’s processes, as the Procfile starts them.',
    '`runledger COMMAND --help` explains a command. Lists are tables on a terminal and JSON lines in a pipe.',
    'Exit status: 0; 1 failed; 64 wrong arguments; 69 a server is unreachable; 78 wrong configuration.',
    '',
  ].join('\n')
}

/** Returns the help of a command. */
function describeCommand(command: Command): string {
  const { options, summary, notes } = command
  const rows = Object.entries(options).map(([name, option]) => [
    `  ${formatOption(name, option)}`,
    describeOption(option),
  ])
  return [
    `Usage: ${formatUsage(command)}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(rows.length === 0 ? [] : ['']),
    ...alignColumns(rows, '   '),
    ...(notes === undefined ? [] : ['', notes]),
    '',
  ].join('\n')
}

/** Returns the usage of a command on one line. */
function formatUsage(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]) => {
    const words = formatOption(name, option)
    if (option.required === true) return words
    return option.multiple === true ? `[${words}]...` : `[${words}]`
  })
  return ['runledger', formatWords(command), ...options].join(' ')
}

function formatWords({ name, operands }: Command): string {
  return [name, ...operands].join(' ')
}

function formatOption(name: string, { type, value, default: preset }: Option): string {
  if (type === 'boolean') return preset === true ? `--no-${name}` : `--${name}`
  return `--${name} ${value}`
}

function describeOption({ help, default: preset, multiple }: Option): string {
  if (multiple === true) return `${help} (may be repeated)`
  return typeof preset === 'string' ? `${help} (default ${preset})` : help
}
