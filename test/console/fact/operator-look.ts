// The operators' view in light, dark and on a narrow screen: axe finds no barrier. With PICTURES=1 it renews its picture.
import type { Series, SeriesPoint } from '#client'
import { createCaller, describeSubmission, submitNew } from '../../helper/submission.ts'
import { fact, origin, sql } from '../operator-suite.ts'
import { findFaults, looks, takePicture, takesPictures } from '../picture.ts'
import { enter } from '../service.ts'

for (const [look, options] of Object.entries(looks)) {
  fact(
    `everybody can use the view of operators, ${look}`,
    async (t, { page }, key) => {
      const isPicture = takesPictures && look === 'light'
      if (isPicture) await page.route('**/api/operator/series', (route) => route.fulfill({ json: makeUpHours() })) // prettier-ignore
      await submitNew(sql, await createCaller(sql, 'beta'), describeSubmission({ code: 'import time; time.sleep(4)' })) // prettier-ignore
      await enter(page, origin, key)
      await page.getByRole('region', { name: 'Accounts' }).waitFor()
      await page.getByRole('img').first().waitFor()
      t.strictSame(await findFaults(page), [])
      if (!isPicture) return
      await page.setViewportSize({ width: 1280, height: 1180 })
      for (const seconds of [8, 8, 1])
        await submitNew(sql, await createCaller(sql, 'beta'), describeSubmission({ code: `import time; time.sleep(${seconds})` })) // prettier-ignore
      await page.getByRole('region', { name: 'Accounts' }).getByRole('row').nth(3).waitFor()
      await takePicture(page, 'operator')
    },
    options,
  )
}

/** Invents three hours in which arrivals increase, with a jam that clears up. */
function makeUpHours(): Series {
  const now = Date.now()
  const points = Array.from({ length: 90 }, (_, n): SeriesPoint => {
    const jam = Math.max(0, 12 - Math.abs(n - 58))
    const received = Math.round(120 + 3 * n + 40 * Math.sin(n / 4) + 12 * Math.sin(n * 7))
    return {
      at: new Date(now - (90 - n) * 120_000).toISOString(),
      seconds: 120,
      received,
      ended: received - jam * 8 + (n > 62 && n < 72 ? 90 : 0),
      failed: jam > 8 ? jam - 8 : 0,
      waiting: jam ** 2 * 3,
      waited_p95: 0.03 + jam ** 2 / 4 + 0.02 * Math.abs(Math.sin(n)),
      refused: jam > 9 ? jam * 2 : n % 31 === 0 ? 1 : 0,
    }
  })
  return { at: new Date(now).toISOString(), step_seconds: 120, share: 1, points }
}
