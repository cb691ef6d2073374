// The commands `languages install` and `languages packages`.
import { CommandError, defineCommand } from './command.ts'
import {
  chooseLanguages,
  chooseLibraries,
  installLanguages,
  listPackages,
  thisHost,
} from './install-languages.ts'
import { takes } from './option.ts'
import { askOperator } from './service.ts'
import { commandWorkers } from './worker-commands.ts'

const split = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

export const languageCommands = [
  defineCommand({
    name: 'languages install',
    operands: ['[LANGUAGES]'],
    summary: 'install the Debian packages of languages (all, or "go rust")',
    notes:
      'Prints the packages and their size, then installs one language after the other, and skips installed ones. Then the workers of this\nhost finish their programs, look for languages again, and offer each language once a test program of it has run correctly.',
    options: {
      libraries: takes('NAMES', 'Python libraries, such as "numpy scipy pandas"'),
    },
    run: async ({ operands: [names = ''], values: { libraries = '' } }) => {
      const failed = await installLanguages(
        chooseLanguages(split(names)),
        chooseLibraries(split(libraries)),
        process,
      )
      await askWorkers()
      return failed === 0 ? 0 : 1
    },
  }),
  defineCommand({
    name: 'languages packages',
    operands: ['[LANGUAGES]'],
    summary: 'print the Debian packages of languages (all, or "go rust")',
    run: async ({ operands: [names = ''] }) => {
      process.stdout.write(`${listPackages(chooseLanguages(split(names))).join(' ')}\n`)
    },
  }),
]

/** Restarts the workers of this host, so that they look for languages again, if a service answers. */
async function askWorkers(): Promise<void> {
  try {
    const rows = await askOperator(
      { url: undefined, 'key-file': undefined },
      (operator) => commandWorkers(operator, { host: thisHost }, 'restart'),
      0,
    )
    process.stdout.write(`${rows.length} workers of this host look for languages again.\n`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    process.stdout.write(`No worker was asked to look for languages again: ${error.message}.\n`)
  }
}
