// The documentation agrees with the code: every link resolves, every variable, route, field and command is on its page, and
// no page exceeds its number of lines.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { limitsByEnding } from '#config'
import { catalogue, languages, settingEntries } from '#language'
import { commands } from '../../src/cli/commands.ts'
import { contract } from '../helper/contract.ts'
import { listAnchors, listLinks, readPage, readPages, root } from './page.ts'

const pages = readPages()
const byPath = new Map(pages.map((page) => [page.path, page]))

/** The most lines of each page; a decision has 40. */
const linesMost: Readonly<Record<string, number>> = {
  'README.md': 150,
  'SECURITY.md': 90,
  'CONTRIBUTING.md': 120,
  'CHANGELOG.md': 60,
  'bench/README.md': 130,
  'bench/history/README.md': 130,
  'bench/language/README.md': 130,
  'sql/README.md': 90,
  'clients/typescript/README.md': 60,
  'clients/python/README.md': 180,
  'docs/quickstart.md': 80,
  'docs/api.md': 280,
  'docs/doors.md': 120,
  'docs/clients.md': 80,
  'docs/evaluate.md': 40,
  'docs/interactive.md': 80,
  'docs/languages.md': 110,
  'docs/deploy.md': 180,
  'docs/kubernetes.md': 90,
  'docs/backup.md': 80,
  'docs/cells.md': 80,
  'docs/configuration.md': 90,
  'docs/operate.md': 160,
  'docs/audit.md': 120,
  'docs/architecture.md': 180,
  'docs/how-a-run-is-made.md': 120,
  'docs/performance.md': 120,
}
const decisionLinesMost = 40
const frontPageBytesMost = 9 * 1024

t.test('no page is longer than it may be', async (t) => {
  for (const { path, text } of pages) {
    const most = path.startsWith('docs/decisions/') ? decisionLinesMost : linesMost[path]
    const lines = text.trimEnd().split('\n').length
    t.ok(most !== undefined && lines <= most, `${path}: ${lines} of ${most} lines`)
  }
  const bytes = Buffer.byteLength(readPage('README.md').text)
  t.ok(bytes <= frontPageBytesMost, `README.md: ${bytes} of ${frontPageBytesMost} bytes`)
})

t.test('every link leads to something that is there', async (t) => {
  for (const page of pages) {
    for (const link of listLinks(page)) {
      if (/^(https?|mailto):/.test(link)) continue
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? page.path : normalize(join(dirname(page.path), file))
      t.ok(existsSync(join(root, target)), `${page.path}: ${link}`)
      const reached = byPath.get(target)
      if (anchor !== undefined && reached !== undefined)
        t.ok(listAnchors(reached).has(anchor), `${page.path}: ${link}`)
    }
  }
})

t.test('every variable stands in docs/configuration.md', async (t) => {
  const { text } = readPage('docs/configuration.md')
  const source = readFileSync(join(root, 'src/config.ts'), 'utf8')
  const declared = [...source.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)]
  const names = [
    ...declared.map(([, name = '']) => name),
    ...limitsByEnding.keys(),
    ...Object.keys(settingEntries),
  ]
  t.ok(names.length > 30)
  for (const name of new Set(names)) t.ok(text.includes(`\`${name}\``), name)
})

t.test('every route stands in docs/api.md or docs/operate.md', async (t) => {
  const text = ['docs/api.md', 'docs/operate.md'].map((path) => readPage(path).text).join('\n')
  const source = readFileSync(join(root, 'src/http/http.ts'), 'utf8')
  const served = [...source.matchAll(/\['[A-Z]+', '(\/[^']*)'/g)]
  const paths = [...served.map(([, path = '']) => path), ...Object.keys(contract.paths)]
  t.ok(paths.length > 30)
  for (const path of new Set(paths.map((one) => one.replaceAll(/:(\w+)/g, '{$1}'))))
    t.ok(text.includes(path), path)
})

t.test('every field of requests and records stands in docs/api.md', async (t) => {
  const { text } = readPage('docs/api.md')
  for (const schema of ['Submission', 'Result']) {
    const { properties } = contract.components.schemas[schema] as { properties: object }
    t.ok(Object.keys(properties).length > 15)
    for (const name of Object.keys(properties))
      t.match(text, new RegExp(`[\`"{, ]${name}[\`"?},]`), `${schema}: ${name}`)
  }
})

t.test('every error code stands in docs/api.md', async (t) => {
  const { text } = readPage('docs/api.md')
  const { Problem, InvalidRequest, Timeout, Internal } = contract.components.schemas as Record<
    string,
    { properties: { error: { enum?: string[]; const?: string } } }
  >
  for (const schema of [Problem, InvalidRequest, Timeout, Internal]) {
    const { enum: codes, const: code } = schema!.properties.error
    for (const one of codes ?? [code]) t.ok(text.includes(`\`${one}\``), String(one))
  }
})

t.test('every command stands in docs/clients.md, docs/operate.md or docs/audit.md', async (t) => {
  const text = ['docs/clients.md', 'docs/operate.md', 'docs/audit.md']
    .map((path) => readPage(path).text)
    .join('\n')
  for (const { name } of commands) t.ok(text.includes(name), name)
})

t.test('every target of make and every command that a page names exists', async (t) => {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8')
  const launcher = readFileSync(join(root, 'runledger'), 'utf8')
  for (const { path, text } of pages) {
    for (const [, target] of text.matchAll(/`make ([a-z][a-z0-9-]*)/g))
      t.match(makefile, new RegExp(`^${target}:`, 'm'), `${path}: make ${target}`)
    for (const [, name = ''] of text.matchAll(/\.\/runledger ([a-z]+)/g))
      t.ok(
        commands.some((command) => command.name.split(' ')[0] === name) ||
          launcher.includes(`1:${name})`),
        `${path}: runledger ${name}`,
      )
  }
})

t.test('the number of languages on the first page is that of the catalogue', async (t) => {
  t.match(readPage('README.md').text, `[${languages.length} languages]`)
  t.equal(Object.keys(catalogue).length, languages.length)
})
