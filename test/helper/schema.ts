// Describes the schema as text from the catalogs: tables, columns, constraints, indexes, triggers, functions, views, policies,
// grants, comments. test/sql/schema.sql is a snapshot of it, so that a review shows how a change affects the schema. Renew it
// with `node test/helper/schema.ts`. (The embedded server has no pg_dump.)
import { readFile, writeFile } from 'node:fs/promises'
import { createDatabase } from '#database'
import type { Database } from '#database'
import { startTestCluster, withDatabase } from './database.ts'

/** The path of the snapshot. */
export const snapshotPath = `${import.meta.dirname}/../sql/schema.sql`

/** Describes the service's schemas. Partitions are left out, except default ones, because they depend on the date. */
export async function describeSchema(sql: Database): Promise<string> {
  const rows = await sql.unsafe<{ object: string; lines: string[] }[]>(
    await readFile(`${import.meta.dirname}/schema.query`, 'utf8'),
  )
  const blocks = rows.map(
    ({ object, lines }) => `${object}\n${lines.map((line) => `  ${line}\n`).join('')}`,
  )
  return `-- The schema as it stands after all migrations. Made by test/helper/schema.ts; do not edit.\n\n${blocks.join('\n')}`
}

if (process.argv[1] === import.meta.filename) {
  const cluster = await startTestCluster()
  const url = withDatabase(cluster.url, 'runledger_template')
  const sql = createDatabase({ url, connections: 1, name: 'schema snapshot' })
  await writeFile(snapshotPath, await describeSchema(sql))
  await sql.end()
  await cluster.stop()
}
