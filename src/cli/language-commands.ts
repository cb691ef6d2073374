// `languages install` and `languages packages`.
import { CommandError, defineCommand } from './command.ts'
import { withDatabase } from './connect.ts'
import {
  chooseLanguages,
  chooseLibraries,
  installLanguages,
  listPackages,
  thisHost,
} from './install-languages.ts'
import { operator } from './operator.ts'
import { orderWorkers } from './order-commands.ts'

const split = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

export const languageCommands = [
  defineCommand({
    name: 'languages install',
    operands: ['[LANGUAGES]'],
    summary: 'install what languages come in (all of them, or "go rust"), as Debian packs it',
    notes:
      'Says what and how large, then installs one language after the other; what is there is left alone. Then the workers of this\nhost finish what they have, look again, and offer each language once a program of it has run as it should.',
    options: {
      libraries: { type: 'string', value: 'NAMES', help: 'such as "numpy scipy pandas", too' },
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
    summary:
      'print the Debian packages of languages (all of them, or "go rust"), for whoever installs them elsewhere',
    options: {},
    run: async ({ operands: [names = ''] }) => {
      process.stdout.write(`${listPackages(chooseLanguages(split(names))).join(' ')}\n`)
    },
  }),
]

/** Tells the workers of this host to look for languages again, if there is a service here. */
async function askWorkers(): Promise<void> {
  try {
    const selection = { worker: undefined, host: thisHost, all: false }
    const rows = await withDatabase((sql) => orderWorkers(sql, selection, 'restarted', operator()))
    process.stdout.write(`${rows.length} workers of this host look again.\n`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    process.stdout.write(`No worker was asked to look again: ${error.message}.\n`)
  }
}
