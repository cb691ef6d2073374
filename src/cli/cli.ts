// The command line's entry, which `runledger` starts: reads a line by the table of commands, and ends with its status. Results
// go to stdout, complaints to stderr.
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
