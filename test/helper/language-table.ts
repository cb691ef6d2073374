// Generates parts of docs/languages.md from the catalogue. `make readme` writes them, and a test checks them.
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as prettier from 'prettier'
import { catalogue, languages } from '#language'
import type { PhaseLimits } from '#language'

/** The page with the generated parts. */
export const languagePage = resolve(import.meta.dirname, '../../docs/languages.md')

/** Placeholders for a submission's own arguments in a recipe's commands. */
const places = new Set(['{arguments}', '{files}'])
const definitions = languages
  .map((name) => catalogue[name])
  .toSorted((one, other) => one.title.localeCompare(other.title))

/** Returns the page with parts that fit the catalogue. */
export async function renderLanguagePage(): Promise<string> {
  const text = readFileSync(languagePage, 'utf8')
  const whole = [
    ['limits', renderLimits()],
    ['languages', renderLanguages()],
  ].reduce((page, [name, table]) => {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
    const before = page.slice(0, page.indexOf(begin) + begin.length)
    return `${before}\n${table}\n\n${page.slice(page.indexOf(end))}`
  }, text)
  const options = await prettier.resolveConfig(languagePage)
  return prettier.format(whole, { ...options, parser: 'markdown' })
}

function renderLanguages(): string {
  const rows = definitions.map(({ name, title, aliases, recipe, packages }) => {
    const names = [name, ...aliases].map((one) => `\`${one}\``).join(', ')
    const { typed = {}, compile, run = [] } = recipe ?? {}
    const compiled = typed.compile ? [typed.compile] : (compile?.commands ?? [])
    const line = [...compiled, typed.run ?? run]
      .map((words) => words.filter((word) => !places.has(word)).join(' '))
      .join(' && ')
    return `| ${escape(title)} | ${names} | ${line && `\`${line.replaceAll('|', '\\|')}\``} | ${packages.map((one) => `\`${one}\``).join(' ')} |`
  })
  return ['| language | names | commands | Debian packages |', '|---|---|---|---|', ...rows].join(
    '\n',
  )
}

/** Returns a table with a row for all languages that have the same limits of a phase. The largest group is "all others". */
function renderLimits(): string {
  const groups = (['run', 'compile'] as const).flatMap((phase) => {
    const byLimits = Map.groupBy(
      definitions.filter(({ limits }) => limits[phase] !== null),
      ({ limits }) => describeLimits(limits[phase] as PhaseLimits),
    )
    const sorted = [...byLimits].toSorted(([, one], [, other]) => other.length - one.length)
    return sorted.map(([limits, group], index) => {
      const titles = group.map(({ title }) => escape(title)).join(', ')
      return `| ${phase === 'run' ? 'run' : 'compiler'} | ${index === 0 ? 'all others' : titles} | ${limits} |`
    })
  })
  const head = [
    '| of the | languages | CPU / wall time | memory | processes | stdout / stderr | disk |',
    '|---|---|---|---|---|---|---|',
  ]
  return [...head, ...groups].join('\n')
}

function describeLimits(limits: PhaseLimits): string {
  return [
    `${limits.cpuSeconds} s / ${limits.wallSeconds} s`,
    formatBytes(limits.memoryBytes),
    String(limits.processes),
    `${formatBytes(limits.stdoutBytes)} / ${formatBytes(limits.stderrBytes)}`,
    formatBytes(limits.diskBytes),
  ].join(' | ')
}

function formatBytes(bytes: number): string {
  const exponent = Math.floor(Math.log2(bytes) / 10)
  return `${bytes / 1024 ** exponent} ${['B', 'KiB', 'MiB', 'GiB'][exponent]}`
}

function escape(text: string): string {
  return text.replaceAll('*', '\\*')
}

if (import.meta.main) writeFileSync(languagePage, await renderLanguagePage())
