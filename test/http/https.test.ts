// HTTPS only: behind a router by its word, alone with a certificate, and plain HTTP from this machine alone.
import { networkInterfaces } from 'node:os'
import t from 'tap'
import { createAuthority } from '../webhook/certificate.ts'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'

const { sql, url, drop } = await createTestDatabase()
t.teardown(drop)
const { issue } = await startServer(t, sql, { url })
const python = { language: 'python', code: '' }

t.test('behind a router only what came to it over HTTPS passes', async (t) => {
  const { call } = await startServer(t, sql, { url, trustProxy: true })
  for (const proto of [undefined, 'http', 'HTTP', 'https, http', 'httpsx', '']) {
    const headers = proto === undefined ? {} : { 'X-Forwarded-Proto': proto }
    const {
      status,
      body,
      headers: given,
    } = await call('POST', '/api/submit', { headers, body: python })
    t.equal(status, 403, `${proto}`)
    t.equal(body.error, 'https_required')
    t.equal(given['strict-transport-security'], undefined)
    t.equal((await call('GET', '/healthz', { headers })).status, 200, 'health needs no HTTPS')
  }
  const headers = { 'X-Forwarded-Proto': 'https' }
  for (const [method, path, status] of [
    ['POST', '/api/submit', 202],
    ['GET', '/healthz', 200],
    ['GET', '/nowhere', 404],
    ['GET', '/api/submit', 405],
  ] as const) {
    const answer = await call(method, path, {
      headers,
      body: method === 'POST' ? python : undefined,
    })
    t.equal(answer.status, status)
    t.match(answer.headers['strict-transport-security'], /^max-age=\d{8,}/, path)
  }
})

t.test('with no router in front, X-Forwarded-Proto is nobody’s word', async (t) => {
  const address = Object.values(networkInterfaces())
    .flat()
    .find((entry) => entry?.family === 'IPv4' && !entry.internal)?.address
  if (address === undefined) {
    t.comment('this machine has loopback only')
    return
  }
  const { port } = await startServer(t, sql, { url, host: '0.0.0.0' })
  const answer = await fetch(`http://${address}:${port}/api/submit`, {
    method: 'POST',
    headers: { 'X-Forwarded-Proto': 'https', 'X-API-Key': await issue() },
    body: 'x'.repeat(500_000),
  })
  t.equal(answer.status, 403)
  t.match(await answer.json(), { error: 'https_required' })
})

t.test('alone it speaks HTTPS itself, and says so in every answer', async (t) => {
  const authority = createAuthority()
  t.teardown(() => authority.remove())
  const { call } = await startServer(t, sql, { url, tls: authority.issue(['IP:127.0.0.1']) })
  const { status, headers } = await call('POST', '/api/submit', { body: python })
  t.equal(status, 202)
  t.match(headers['strict-transport-security'], /^max-age=\d{8,}/)
  t.match((await call('GET', '/x')).headers['strict-transport-security'], /^max-age=\d{8,}/)
})
