// A release starts on a database that a newer one has migrated. If the database still serves it, it works and logs a warning.
// Otherwise each of its processes reports what it does not know and what to do, and exits.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'
import metadata from '#package' with { type: 'json' }
import { bareEnvironment } from '../helper/bare-environment.ts'
import { openTestDatabase } from '../helper/database.ts'
import { startWebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const { sql, url } = await openTestDatabase(t)
await sql`insert into runledger.schema_migration (name, sha256) values ('999998-later.sql', ''), ('999999-last.sql', '')`

function start(entry: string): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('node', [`src/${entry}`], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: { ...bareEnvironment, DATABASE_URL: url, PORT: '0', LANGUAGES: 'python' },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, said: stdout + stderr }
}

const warned = (lines: readonly string[]): unknown =>
  lines
    .map((line) => JSON.parse(line) as { msg: string; reason?: string })
    .find(({ msg }) => msg === 'database.newer')?.reason

t.test('that still serves it: it works, and says what it does not know', async (t) => {
  const { status, said } = start('migration/migrate.ts')
  t.equal(status, 0)
  const { lines } = await startWebProcess(t, url)
  const worker = await startWorkerProcess(t, url, { LANGUAGES: 'python' })
  for (const told of [warned(said.trim().split('\n')), warned(lines), warned(worker.lines)])
    t.match(told, /older than the database: it does not know 999998-later\.sql, 999999-last\.sql/)
})

t.test('that serves it no more: nothing starts', async (t) => {
  await sql.unsafe(`
    create or replace function runledger.oldest_release() returns text language sql immutable as $$ select '99.10.0' $$`)
  const entries = { 'migration/migrate.ts': 1, 'server/server.ts': 78, 'worker/worker.ts': 78 }
  for (const [entry, expected] of Object.entries(entries)) {
    const { status, said } = start(entry)
    t.equal(status, expected, entry)
    t.match(said, `this is release ${metadata.version}, older than the database`, entry)
    t.match(said, /does not know 999998-later\.sql, 999999-last\.sql/, entry)
    t.match(
      said,
      /only 99\.10\.0 and later support\. Start one of these releases, or restore a backup/,
      entry,
    )
  }
})
