// CORS_ORIGINS: only pages of the named origins may call the API. Without the setting no page may.
import t from 'tap'
import { openTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import type { Answer } from '../helper/server.ts'
import { createCaller } from '../helper/submission.ts'

const { sql, url } = await openTestDatabase(t)
const { key } = await createCaller(sql)
const origin = 'https://app.example.com'
const off = await startServer(t, sql, { url })
const on = await startServer(t, sql, { url, corsOrigins: [origin, 'http://localhost:5173'] })
const closed = await startServer(t, sql, { url, corsOrigins: [origin], doors: [] })

const namesOf = ({ headers }: Answer): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'vary')
const preflight = {
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'x-api-key',
}

t.test('a preflight is answered without a key', async (t) => {
  const headers = { Origin: origin, ...preflight }
  const answer = await on.call('OPTIONS', '/api/submit', { key: null, headers, checked: false })
  t.equal(answer.status, 204)
  t.match(answer.headers, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': /POST/,
    'access-control-allow-headers': /X-API-Key/,
    vary: 'Origin',
  })
  t.notOk('access-control-allow-credentials' in answer.headers)
})

t.test('an answer names the origin that asked, an error too', async (t) => {
  for (const headers of [{ Origin: origin }, { Origin: 'http://localhost:5173' }]) {
    const answer = await on.call('GET', '/api/languages', { key, headers })
    t.equal(answer.status, 200)
    t.equal(answer.headers['access-control-allow-origin'], headers.Origin)
    t.match(answer.headers['access-control-expose-headers'], /Retry-After/)
    t.equal(answer.headers['vary'], 'Origin')
  }
  const refused = await on.call('GET', '/api/languages', { key: null, headers: { Origin: origin } })
  t.equal(refused.status, 401)
  t.equal(refused.headers['access-control-allow-origin'], origin, 'so that the page can read why')
})

t.test('doors are asked as the API is, with the headers of their clients', async (t) => {
  const headers = {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,mcp-protocol-version,mcp-session-id',
  }
  for (const path of ['/mcp', '/judge0/submissions?wait=true', '/judge0/submissions/1']) {
    const asked = await on.call('OPTIONS', path, { key: null, headers, checked: false })
    t.equal(asked.status, 204, path)
    const allowed = asked.headers['access-control-allow-headers']
    const rows = [
      'Authorization', 'X-Auth-Token', 'Mcp-Session-Id', 'MCP-Protocol-Version', 'Mcp-Method',
      'Mcp-Name',
    ] // prettier-ignore
    for (const name of rows) t.ok(allowed?.includes(name), name)
    t.match(asked.headers['access-control-allow-methods'], /DELETE/)
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }
  const call = { key: null, body, checked: false }
  const authorized = { Origin: origin, Authorization: `Bearer ${key}` }
  const answer = await on.call('POST', '/mcp', { ...call, headers: authorized })
  t.equal(answer.status, 200)
  t.equal(answer.headers['access-control-allow-origin'], origin)
  t.ok(answer.headers['mcp-session-id'])
  t.match(answer.headers['access-control-expose-headers'], /Mcp-Session-Id/)
  const refused = await on.call('POST', '/mcp', { ...call, headers: { Origin: origin } })
  t.match(refused, { status: 401, headers: { 'access-control-allow-origin': origin } })
  const other = { ...authorized, Origin: 'https://other.example.com' }
  const foreign = await on.call('POST', '/mcp', { ...call, headers: other })
  t.equal(foreign.status, 403)
  t.strictSame(namesOf(foreign), ['vary'])
})

t.test('a door that is closed has no path, and the API behind it stays', async (t) => {
  const headers = { Origin: origin, ...preflight }
  const asked = await closed.call('OPTIONS', '/mcp', { key: null, headers, checked: false })
  t.equal(asked.status, 404)
  t.strictSame(namesOf(asked), [])
  const one = await startServer(t, sql, { url, doors: ['piston'] })
  for (const [server, method, path, status] of [
    [closed, 'GET', '/api/v2/runtimes', 404],
    [one, 'GET', '/api/v2/runtimes', 200],
    [one, 'POST', '/run_code', 404],
    [one, 'POST', '/mcp', 404],
    [one, 'GET', '/api/languages', 200],
  ] as const) {
    const answer = await server.call(method, path, { body: {}, checked: false })
    t.equal(answer.status, status, path)
  }
})

t.test('other origins, and other paths, get nothing', async (t) => {
  const others = ['https://app.example.com.evil.test', 'https://APP.example.com', 'null', 'http://app.example.com'] // prettier-ignore
  for (const other of others) {
    const headers = { Origin: other, ...preflight }
    const asked = await on.call('OPTIONS', '/api/submit', { key: null, headers, checked: false })
    t.equal(asked.status, 401, other)
    t.strictSame(namesOf(asked), ['vary'])
    t.strictSame(
      namesOf(await on.call('GET', '/api/languages', { key, headers: { Origin: other } })),
      ['vary'],
    )
  }
  t.strictSame(
    namesOf(await on.call('GET', '/healthz', { key: null, headers: { Origin: origin } })),
    [],
  )
})

t.test('without the setting there is no such header', async (t) => {
  const headers = { Origin: origin, ...preflight }
  const asked = await off.call('OPTIONS', '/api/submit', { key: null, headers, checked: false })
  t.equal(asked.status, 401)
  t.strictSame(namesOf(asked), [])
  t.strictSame(
    namesOf(await off.call('GET', '/api/languages', { key, headers: { Origin: origin } })),
    [],
  )
})
