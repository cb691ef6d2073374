// Installs what languages come in: says what and how large, then one language after the other, and notifies the workers of this
// host to look again. What is there already is left alone, so that it can be run again after whatever stopped it.
import { execFile, spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import { catalogue, findLanguage, languages } from '#language'
import type { Language, LanguageDefinition } from '#language'
import { CommandError, exitStatuses, misuse } from './command.ts'
import type { Terminal } from './command.ts'

const run = promisify(execFile)
const environment = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C.UTF-8',
}
const install = ['install', '--no-install-recommends', '-y', '-q=2']

/** @throws {CommandError} naming what is no language, or no library of one. */
export function chooseLanguages(names: readonly string[]): Language[] {
  const unknown = names.filter((name) => findLanguage(name) === undefined)
  refuse('language', unknown, languages)
  return names.length === 0 ? [...languages] : names.flatMap((name) => findLanguage(name) ?? [])
}

/** The packages that languages come in, each once. */
export function listPackages(chosen: readonly Language[]): string[] {
  return [...new Set(chosen.flatMap((language) => catalogue[language].packages))]
}

/** The packages of libraries by their names, such as `numpy`. @throws {CommandError} */
export function chooseLibraries(names: readonly string[]): string[] {
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

function refuse(noun: string, unknown: readonly string[], known: readonly string[]): void {
  if (unknown.length > 0)
    throw misuse(`no such ${noun}: ${unknown.join(', ')}; there are ${known.join(', ')}`)
}

/** @returns how many could not be installed. @throws {CommandError} where there is no apt, or without the right to use it. */
export async function installLanguages(
  chosen: readonly Language[],
  libraries: readonly string[],
  { stdout }: Terminal,
): Promise<number> {
  const say = (text: string): void => void stdout.write(`${text}\n`)
  const there = await listInstalled()
  // What two languages need is installed, and named, with the first.
  const claim = (name: string): boolean => {
    const isNew = !there.has(name)
    there.add(name)
    return isNew
  }
  const wanted = [
    ...chosen.map((language) => catalogue[language]),
    ...(libraries.length > 0 ? [{ title: 'Libraries', packages: libraries }] : []),
  ]
    .map(({ title, packages }) => ({
      title,
      packages: packages.filter(claim),
    }))
    .filter(({ packages }) => packages.length > 0)
  if (wanted.length === 0) {
    say('Everything is installed.')
    return 0
  }
  if (process.getuid?.() !== 0)
    throw new CommandError('installing needs root: use sudo', exitStatuses.unauthorized)
  await apt(['update', '-q=2'])
  for (const { title, packages } of wanted) say(`${title}: ${packages.join(' ')}`)
  say(await measure(wanted.flatMap(({ packages }) => packages)))

  const failed: string[] = []
  for (const [index, { title, packages }] of wanted.entries()) {
    const since = performance.now()
    stdout.write(`[${index + 1}/${wanted.length}] ${title} … `)
    try {
      await apt([...install, ...packages])
      say(`${((performance.now() - since) / 1000).toFixed(0)} s`)
    } catch (error) {
      failed.push(title)
      say(`failed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (failed.length > 0) say(`Not installed: ${failed.join(', ')}.`)
  return failed.length
}

/** This host's name, as its workers register it. */
export const thisHost = hostname()

async function listInstalled(): Promise<Set<string>> {
  try {
    const { stdout } = await run('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n'], {
      maxBuffer: 1 << 26,
    })
    const rows = stdout.split('\n').map((line) => line.split(' '))
    return new Set(rows.flatMap(([name = '', status]) => (status === 'installed' ? [name] : [])))
  } catch {
    throw new CommandError(
      'this system has no dpkg: install the languages with its own package manager',
    )
  }
}

/** What apt says of the size, before it does anything. */
async function measure(packages: readonly string[]): Promise<string> {
  const words = ['install', '--no-install-recommends', '--assume-no', ...packages]
  const said = await run('apt-get', words, { env: environment, maxBuffer: 1 << 26 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  const sizes = said.stdout.split('\n').filter((line) => /^(Need to get|After this)/.test(line))
  return sizes.join(' ')
}

/** @throws with the last line that it says. */
function apt(words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', words, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(said.trim().split('\n').at(-1) || `apt-get ended with ${code}`))
    })
  })
}
