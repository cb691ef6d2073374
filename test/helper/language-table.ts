// The README's table of languages, made from the catalogue: `make readme` writes it, a test holds it.
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as prettier from 'prettier'
import { catalogue, languages } from '#language'
import type { LanguageDefinition } from '#language'

const readme = resolve(import.meta.dirname, '../../README.md')
const [begin, end] = ['<!-- languages -->\n', '<!-- /languages -->']

/** Where a submission's own words stand in a recipe's commands. */
const places = new Set(['{arguments}', '{files}'])

/** The README as the catalogue wants it. */
export async function renderReadme(): Promise<string> {
  const text = readFileSync(readme, 'utf8')
  const before = text.slice(0, text.indexOf(begin) + begin.length)
  const after = text.slice(text.indexOf(end))
  const rows = languages
    .map((name): LanguageDefinition => catalogue[name])
    .toSorted((one, other) => one.title.localeCompare(other.title))
    .map(({ name, title, aliases, recipe, packages }) => {
      const names = [name, ...aliases].map((one) => `\`${one}\``).join(', ')
      const { typed = {}, compile, run = [] } = recipe ?? {}
      const compiled = typed.compile ? [typed.compile] : (compile?.commands ?? [])
      const line = [...compiled, typed.run ?? run]
        .map((words) => words.filter((word) => !places.has(word)).join(' '))
        .join(' && ')
      return `| ${title.replaceAll('*', '\\*')} | ${names} | ${line && `\`${line.replaceAll('|', '\\|')}\``} | ${packages.map((one) => `\`${one}\``).join(' ')} |`
    })
  const table = ['| language | names | commands | Debian packages |', '|---|---|---|---|', ...rows]
  const options = await prettier.resolveConfig(readme)
  return prettier.format(`${before}\n${table.join('\n')}\n\n${after}`, {
    ...options,
    parser: 'markdown',
  })
}

if (import.meta.main) writeFileSync(readme, await renderReadme())
