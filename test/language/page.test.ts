// The README lists the languages that there are.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { renderReadme } from '../helper/language-table.ts'

t.test('the README’s table is the catalogue’s; `make readme` writes it', async (t) => {
  const text = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8')
  t.ok(text === (await renderReadme()))
})
