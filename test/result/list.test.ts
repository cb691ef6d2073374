// A page of a list reads a bounded number of submissions, whatever its filter, and no submission is lost between pages.
import t from 'tap'
import { listResults } from '#result'
import type { ResultFilter } from '#result'
import { openTestDatabase } from '../helper/database.ts'
import { finish } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

const { sql } = await openTestDatabase(t)
const caller = await createCaller(sql)
const stranger = await createCaller(sql)

const looked = 4
const ids: string[] = []
for (let n = 0; n < 10; n += 1) {
  ids.push(
    await submitNew(
      sql,
      caller,
      describeSubmission({
        code: '',
        tag: n < 2 ? 'old' : null,
        language: n < 2 ? 'lua' : 'python',
      }),
    ),
  )
  await submitNew(sql, stranger, describeSubmission({ code: '', tag: 'old' }))
}
await finish(sql, ids[0] ?? '', { verdict: 'WA' })
await finish(sql, ids[1] ?? '')
await finish(sql, ids[9] ?? '')

/** Reads all pages. @returns the ids on each page. */
async function walk(filter: Omit<ResultFilter, 'limit'>, limit = 3): Promise<string[][]> {
  const pages: string[][] = []
  for (let before: string | null | undefined; before !== null;) {
    const page = await listResults(sql, caller.accountId, { ...filter, before, limit }, looked)
    pages.push(page.results.map(({ id }) => id))
    before = page.next
  }
  return pages
}

t.test('without a filter pages are full, and each submission stands on one', async (t) => {
  const pages = await walk({})
  t.strictSame(pages.flat(), ids.toReversed())
  const lengths = pages.map(({ length }) => length)
  t.strictSame(lengths, [3, 3, 3, 1])
})

t.test('what is rare is found after pages that have less, or nothing', async (t) => {
  t.strictSame(await walk({ language: 'lua' }), [[], [], [ids[1], ids[0]]])
  t.strictSame(await walk({ verdict: 'WA' }), [[], [], [ids[0]]])
  t.strictSame(await walk({ status: 'completed' }), [[ids[9]], [], [ids[1], ids[0]]])
})

t.test('what has a tag is found at once, and looked for among its like alone', async (t) => {
  t.strictSame(await walk({ tag: 'old' }), [[ids[1], ids[0]]])
  t.strictSame(await walk({ tag: 'none' }), [[]])
  t.strictSame(await walk({ tag: 'old', verdict: 'WA' }), [[ids[0]]])
})

t.test('what is not there ends with the last submission', async (t) => {
  t.strictSame(await walk({ verdict: 'CE' }), [[], [], []])
  t.strictSame(await walk({ language: 'ruby' }, 1), [[], [], []])
})

t.test('what is under way is found at once, behind any number that has ended', async (t) => {
  t.strictSame(await walk({ status: 'queued' }, 100), [ids.slice(2, 9).toReversed()])
  t.strictSame(await walk({ status: 'queued' }, 4), [
    [ids[8], ids[7], ids[6], ids[5]],
    [ids[4], ids[3], ids[2]],
  ])
  t.strictSame(await walk({ status: 'running' }), [[]])
})
