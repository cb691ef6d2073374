// A door that the settings do not open has no route. The API behind it stays available.
import t from 'tap'
import { createTestDatabase } from '../../helper/database.ts'
import { startServer } from '../../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)

t.test('only the doors that are named are open', async (t) => {
  const { call } = await startServer(t, sql, { url, doors: ['piston'] })
  const ask = async (method: string, path: string): Promise<number> =>
    (await call(method, path, { ...(method === 'POST' && { body: {} }), checked: false })).status
  t.equal(await ask('GET', '/api/v2/runtimes'), 200)
  t.equal(await ask('POST', '/run_code'), 404)
  t.equal(await ask('POST', '/mcp'), 404)
  t.equal(await ask('GET', '/api/languages'), 200)
})

t.test('none is open where none is named', async (t) => {
  const { call } = await startServer(t, sql, { url, doors: [] })
  t.equal((await call('GET', '/api/v2/runtimes', { checked: false })).status, 404)
})
