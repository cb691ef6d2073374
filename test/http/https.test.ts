// HTTPS only: behind a router by its X-Forwarded-Proto, without a router by a certificate of the service. Only this machine
// may use plain HTTP.
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startServer } from '../helper/server.ts'
import { createAuthority } from '../webhook/certificate.ts'

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

const authority = createAuthority()
t.teardown(() => authority.remove())
const tls = authority.issue(['IP:127.0.0.1'])

t.test('alone it speaks HTTPS itself, and says so in every answer', async (t) => {
  const { call, port } = await startServer(t, sql, { url, tls, requestSeconds: 5 })
  const { status, headers } = await call('POST', '/api/submit', { body: python })
  t.equal(status, 202)
  t.match(headers['strict-transport-security'], /^max-age=\d{8,}/)
  t.match((await call('GET', '/x')).headers['strict-transport-security'], /^max-age=\d{8,}/)
  for (const [bytes, refusal] of [
    ['garbage\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['GET / HTTP/1.1\r\nX: ', /^HTTP\/1\.1 408 /],
  ] as const) {
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.write(bytes)
    const text = Buffer.concat(await socket.toArray()).toString()
    t.match(text, refusal)
    t.match(text, /\r\nStrict-Transport-Security: max-age=\d{8,}/)
  }
})

t.test('who does not shake hands in time, or in no known way, is cut off', async (t) => {
  const { countConnections, port } = await startServer(t, sql, { url, tls, requestSeconds: 1 })
  const hello = Buffer.from('16030100c8010000c40303', 'hex')
  const sockets = ['', hello, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'].map((bytes) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {}).resume()
    socket.write(bytes)
    return socket
  })
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(sockets.map(async (socket) => once(socket, 'connect')))
  while ((await countConnections()) > 0) await sleep(20)
  t.pass('the server has none of them')
})
