// The commands `languages install` and `languages packages`. `install` prints the Debian packages and their size, then installs
// them together; one language after the other if that fails, so that a broken package costs only its own language. Installed
// packages are skipped, so the command can be repeated after any interruption.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describeError } from '#error-text'
import { catalogue, findLanguage, languages } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { CommandError, defineCommand, exitStatuses, misuse, takes } from './command.ts'
import { askOperator } from './service.ts'
import { commandWorkers } from './worker-commands.ts'

const run = promisify(execFile)
const environment = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C.UTF-8',
}
const install = ['install', '--no-install-recommends', '-y', '-q=2']

export const languageCommands = [
  defineCommand({
    name: 'languages install',
    operands: ['[LANGUAGES]'],
    summary: 'install the Debian packages of languages (all, or "go rust")',
    notes:
      'Prints the packages and their size, then installs them together, or one language after the other if that fails. Then the workers of this\nhost finish their programs, look for languages again, and offer each language once a test program of it has run correctly.',
    options: {
      libraries: takes('NAMES', 'Python libraries, such as "numpy scipy pandas"'),
    },
    run: async ({ operands: [names], values: { libraries } }) => {
      const failed = await installLanguages(chooseLanguages(names), chooseLibraries(libraries))
      await askWorkers()
      return failed === 0 ? 0 : 1
    },
  }),
  defineCommand({
    name: 'languages packages',
    operands: ['[LANGUAGES]'],
    summary: 'print the Debian packages of languages (all, or "go rust")',
    run: async ({ operands: [names] }) => {
      const packages = chooseLanguages(names).flatMap((language) => catalogue[language].packages)
      say([...new Set(packages)].join(' '))
    },
  }),
]

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Returns the named languages, or all without names. @throws {CommandError} that lists unknown names. */
function chooseLanguages(list: string | undefined): readonly Language[] {
  const names = split(list)
  const unknown = names.filter((name) => findLanguage(name) === undefined)
  refuse('language', unknown, languages)
  return names.length === 0 ? languages : names.flatMap((name) => findLanguage(name) ?? [])
}

/** Lists the packages of the named libraries, such as `numpy`. @throws {CommandError} that lists unknown names. */
function chooseLibraries(list: string | undefined): string[] {
  const names = split(list)
  const known = new Map(
    languages.flatMap((language) => {
      const { libraries = {} }: LanguageDefinition = catalogue[language]
      return Object.entries(libraries)
    }),
  )
  const unknown = names.filter((name) => !known.has(name))
  refuse('library', unknown, [...known.keys()])
  return names.flatMap((name) => known.get(name) ?? [])
}

function split(list = ''): string[] {
  return list.split(/[\s,]+/).filter(Boolean)
}

function refuse(noun: string, unknown: readonly string[], known: readonly string[]): void {
  if (unknown.length > 0)
    throw misuse(`no such ${noun}: ${unknown.join(', ')}; there are ${known.join(', ')}`)
}

/**
 * Installs the missing packages of languages and libraries.
 * @returns how many languages could not be installed; all libraries together count as one.
 * @throws {CommandError} on a system without dpkg, or without root.
 */
async function installLanguages(
  chosen: readonly Language[],
  libraries: readonly string[],
): Promise<number> {
  const there = await listInstalled()
  // A package that two languages need is listed and installed with the first of them.
  const claim = (name: string): boolean => {
    const isNew = !there.has(name)
    there.add(name)
    return isNew
  }
  const wanted = [
    ...chosen.map((language) => catalogue[language]),
    { title: 'Libraries', packages: libraries },
  ]
    .map(({ title, packages }) => ({ title, packages: packages.filter(claim) }))
    .filter(({ packages }) => packages.length > 0)
  if (wanted.length === 0) {
    say('Everything is installed.')
    return 0
  }
  if (process.getuid?.() !== 0)
    throw new CommandError('installing needs root: use sudo', exitStatuses.unauthorized)
  await apt(['update', '-q=2'])
  for (const { title, packages } of wanted) say(`${title}: ${packages.join(' ')}`)
  const all = wanted.flatMap(({ packages }) => packages)
  say(await measure(all))

  // Together, because apt rebuilds its indexes, such as that of the manuals, after each installation.
  if (wanted.length > 1 && (await tryInstall(`${wanted.length} together`, all))) return 0
  const failed: string[] = []
  for (const { title, packages } of wanted)
    if (!(await tryInstall(title, packages))) failed.push(title)
  if (failed.length > 0) say(`Not installed: ${failed.join(', ')}.`)
  return failed.length
}

/** Installs packages, and prints how long that took, or why it failed. @returns false when it failed. */
async function tryInstall(title: string, packages: readonly string[]): Promise<boolean> {
  const since = performance.now()
  process.stdout.write(`${title} … `)
  try {
    await apt([...install, ...packages])
    say(`${((performance.now() - since) / 1000).toFixed(0)} s`)
    return true
  } catch (error) {
    say(`failed: ${describeError(error)}`)
    return false
  }
}

async function listInstalled(): Promise<Set<string>> {
  try {
    const { stdout } = await run('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n'], {
      maxBuffer: 1 << 26,
    })
    const rows = stdout.split('\n').map((line) => line.split(' '))
    return new Set(rows.flatMap(([name = '', status]) => (status === 'installed' ? [name] : [])))
  } catch {
    throw new CommandError(
      'this system has no dpkg: install the languages with the system’s package manager',
    )
  }
}

/** Returns apt's lines on the download and disk size, from a run that installs nothing. */
async function measure(packages: readonly string[]): Promise<string> {
  const words = ['install', '--no-install-recommends', '--assume-no', ...packages]
  const answer = await run('apt-get', words, { env: environment, maxBuffer: 1 << 26 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  const sizes = answer.stdout.split('\n').filter((line) => /^(Need to get|After this)/.test(line))
  return sizes.join(' ')
}

/** Runs apt-get. @throws {Error} with the last line of its stderr. */
async function apt(words: readonly string[]): Promise<void> {
  const child = spawn('apt-get', words, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(errors.trim().split('\n').at(-1) || `apt-get ended with ${code}`)
}

/** Restarts the workers of this host, so that they look for languages again, if a service answers. */
async function askWorkers(): Promise<void> {
  try {
    const rows = await askOperator(
      { url: undefined, 'key-file': undefined },
      // A worker registers the host's name.
      (operator) => commandWorkers(operator, { host: hostname() }, 'restart'),
      0,
    )
    say(`${rows.length} workers of this host look for languages again.`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    say(`No worker was asked to look for languages again: ${error.message}.`)
  }
}
