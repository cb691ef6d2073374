// Makes the help texts from the table of commands.
import type { Command, Option } from './command.ts'
import { alignColumns } from './output.ts'

export function describeCommands(commands: readonly Command[]): string {
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

export function describeCommand(command: Command): string {
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
export function formatUsage(command: Command): string {
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
