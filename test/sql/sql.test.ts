// Runs each .sql file of this folder as one test, in a transaction that is rolled back. A file is a sequence of
// `do` blocks with `assert`: the text of a failed assert is the test's message.
import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { describeError } from '#error-text'
import { openTestDatabase } from '../helper/database.ts'

const { sql } = await openTestDatabase(t)

const rollback = new Error('rolled back')

// schema.sql is a snapshot and no test.
const files = readdirSync(import.meta.dirname).filter(
  (file) => file.endsWith('.sql') && file !== 'schema.sql',
)
for (const name of files) {
  t.test(name.replace('.sql', '').replaceAll('-', ' '), async (t) => {
    const text = readFileSync(`${import.meta.dirname}/${name}`, 'utf8')
    await sql
      .begin(async (transaction) => {
        await transaction.unsafe(text)
        throw rollback
      })
      .catch((error: unknown) => {
        if (error !== rollback) t.fail(describeError(error))
      })
    t.pass('ran to its end')
  })
}
