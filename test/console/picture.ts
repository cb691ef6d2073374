// Pictures of the page for the documentation: with PICTURES=1 the facts take them.
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'

export const takesPictures = process.env['PICTURES'] === '1'

const folder = resolve(import.meta.dirname, '../../src/console/picture')

/** Takes a picture of the visible part, or of the whole page. */
export async function takePicture(page: Page, name: string, fullPage = false): Promise<void> {
  if (!takesPictures) return
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}
