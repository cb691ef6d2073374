// The entry point of the command line. Results go to stdout, errors to stderr.
import { readLine } from './arguments.ts'
import { CommandError } from './command.ts'
import { commands } from './commands.ts'

try {
  const reading = readLine(commands, process.argv.slice(2))
  if ('help' in reading) process.stdout.write(reading.help)
  else process.exitCode = (await reading.command.run(reading.call)) ?? 0
} catch (error) {
  if (!(error instanceof CommandError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.status
}
