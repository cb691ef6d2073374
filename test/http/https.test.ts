// HTTPS only: behind a router by its X-Forwarded-Proto, without a router by a certificate of the service. Only this machine
// may use plain HTTP. A renewed certificate is read on SIGHUP, without a restart of the process.
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import t from 'tap'
import { startFreshServer, startServer } from '../helper/server.ts'
import { startWebProcess } from '../helper/web.ts'
import { createAuthority } from '../webhook/certificate.ts'

const { issue, sql, url } = await startFreshServer(t)
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

const folder = t.testdir()
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]

function write(pair: { readonly cert: string; readonly key: string }): void {
  for (const [file, text] of [
    [cert, pair.cert],
    [key, pair.key],
  ] as const) {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
}

t.test('on SIGHUP it is read again; what is wrong leaves the present one', async (t) => {
  write(authority.issue(['DNS:first.test']))
  const { child, port, lines } = await startWebProcess(t, url, { TLS_CERT: cert, TLS_KEY: key })
  const present = async (): Promise<string> => {
    const socket = connectSecurely({ host: '127.0.0.1', port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subjectaltname = '' } = socket.getPeerCertificate()
    socket.destroy()
    return subjectaltname
  }
  const hangUp = async (message: string): Promise<void> => {
    child.kill('SIGHUP')
    while (!lines.some((line) => line.includes(message))) await sleep(50)
  }
  t.equal(await present(), 'DNS:first.test')
  write(authority.issue(['DNS:second.test']))
  t.equal(await present(), 'DNS:first.test', 'not before')
  await hangUp('web.certificate_read')
  t.equal(await present(), 'DNS:second.test')
  writeFileSync(key, authority.issue(['DNS:third.test']).key)
  await hangUp('web.certificate_not_read')
  t.match(lines.at(-1), /"reason":"TLS_CERT, TLS_KEY: /)
  t.equal(await present(), 'DNS:second.test')
  t.equal(child.exitCode, null)
})

t.test('without a certificate SIGHUP does nothing', async (t) => {
  const { child, port } = await startWebProcess(t, url)
  child.kill('SIGHUP')
  for (let times = 0; times < 3; times += 1)
    t.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  t.strictSame([child.exitCode, child.signalCode], [null, null])
})
