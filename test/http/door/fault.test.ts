// A program that the service could not run: no door takes it for one that failed, and each says how to ask again.
import t from 'tap'
import { createTestDatabase } from '../../helper/database.ts'
import { interrupt, pretendWorker, startExecution } from '../../helper/execution.ts'
import { startServer } from '../../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const { call } = await startServer(t, sql, { url })
const offered = { version: 'Python 3.11.2', compile: null, run: ['python3', 'main.py'], limits: {} }
await pretendWorker(sql, { python: offered })

/** Three attempts, each of which is lost. */
async function loseAll(): Promise<void> {
  for (let lost = 0; lost < 3;) {
    const [row] = await sql<{ id: string }[]>`select submission_id as id from runledger.pending`
    if (row === undefined) continue
    const version = await startExecution(sql, row.id)
    if (version === null) continue
    await interrupt(sql, row.id, version)
    lost += 1
  }
}

t.test('Piston’s clients get an error', async (t) => {
  const body = { language: 'python', version: '*', files: [{ content: '' }] }
  const [answer] = await Promise.all([
    call('POST', '/api/v2/execute', { body, checked: false }),
    loseAll(),
  ])
  t.match(answer, { status: 500, body: { message: String, fault: 'platform', retry: 'new_key' } })
  t.equal(answer.body.run, undefined)
})

t.test('SandboxFusion’s get its own word', async (t) => {
  const body = { language: 'python', code: '' }
  const [answer] = await Promise.all([
    call('POST', '/run_code', { body, checked: false }),
    loseAll(),
  ])
  const told = { status: 'SandboxError', run_result: null, fault: 'platform', retry: 'new_key' }
  t.match(answer, { status: 200, body: told })
})
