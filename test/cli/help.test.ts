// Help is printed from the table of commands: it lists every command, and each command describes itself.
import t from 'tap'
import { readLine } from '../../src/cli/arguments.ts'
import { commands } from '../../src/cli/commands.ts'

const help = (...line: readonly string[]): string => {
  const reading = readLine(commands, line)
  return 'help' in reading ? reading.help : ''
}

t.test('--help, help and nothing at all list every command', async (t) => {
  for (const line of [['--help'], ['-h'], ['help'], []]) {
    const text = help(...line)
    for (const { name, summary } of commands) {
      t.match(text, `  ${name}`)
      t.match(text, summary)
    }
  }
})

t.test('every command has help of its own, whatever else is on the line', async (t) => {
  for (const { name, operands, options } of commands) {
    const words = name.split(' ')
    const text = help(...words, '--help')
    t.match(text, `Usage: runledger ${[...words, ...operands].join(' ')}`)
    for (const [option, { help: what }] of Object.entries(options)) {
      t.match(text, new RegExp(`--(no-)?${option}`))
      t.match(text, what)
    }
    t.equal(help(...words, 'x', '--nonsense', '-h'), text)
  }
})

t.test('a word that names several commands has help on these', async (t) => {
  const text = help('keys', '--help')
  t.match(text, 'keys issue')
  t.notMatch(text, 'audit')
})

t.test('a value that is missing or too much is named', async (t) => {
  for (const [line, message] of [
    [['audit'], /^audit: ID is missing\n/],
    [['locks'], /^there is no command "locks"/],
    [['keys'], /^`keys` needs another word:\n[^]*keys issue --account NAME/],
    [['keys', 'loose'], /^there is no command "keys loose":\n[^]*keys rotate ID/],
    [['keys', 'change'], /^keys change: ID and --tier TIER are missing\n/],
    [['keys', 'change', 'x'], /^keys change: --tier TIER is missing\n/],
    [['audit', 'verify', 'x'], /^audit verify: "x" is one argument too many\n/],
    [['tiers', 'set'], /^tiers set: NAME is missing\n/],
    [['keys', 'list', '--acount', 'x'], /^keys list: Unknown option '--acount'\n/],
    [['purge', '--days'], /^purge: Option '--days <value>' argument missing\n/],
  ] as const)
    t.throws(() => readLine(commands, line), { status: 64, message })
})
