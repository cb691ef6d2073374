// docs/languages.md lists the languages and limits that there are.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { languagePage, renderLanguagePage } from '../helper/language-table.ts'

t.test('the page’s tables are the catalogue’s; `make readme` writes them', async (t) => {
  t.ok(readFileSync(languagePage, 'utf8') === (await renderLanguagePage()))
})
