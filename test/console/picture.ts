// How each view looks: in which looks it is judged, the barriers that axe finds in it, and its pictures for the documentation,
// which the facts take with PICTURES=1.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', viewport: { width: 360, height: 740 } },
}

/** Returns all violations that axe finds, and whether the page is wider than its window. */
export async function findFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
  }
  const faults = found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
  )
  const fits = await page.evaluate('document.documentElement.scrollWidth <= innerWidth')
  return fits === true ? faults : [...faults, 'it is wider than its window']
}

export const takesPictures = process.env['PICTURES'] === '1'

const folder = resolve(import.meta.dirname, '../../src/console/picture')

/** Takes a picture of the visible part, or of the whole page. */
export async function takePicture(page: Page, name: string, fullPage = false): Promise<void> {
  if (!takesPictures) return
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}
