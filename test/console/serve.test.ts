// How the console's files are served: only by name, to every caller, under a strict policy, cheaply.
import { request } from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { createConsole } from '#console'
import { buildConsole } from '../../src/console/build.ts'
import { startFreshServer, startServer } from '../helper/server.ts'

const file = join(t.testdir(), 'dist', 'console.json')
await buildConsole(file)
const server = await startFreshServer(t, { console: createConsole(file) })
const { url, sql } = server

/** Requests a path without a key. @returns the raw bytes. */
async function get(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  port = server.port,
) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
    (resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            bytes: Buffer.concat(chunks),
          }),
        )
      })
      outgoing.on('error', reject).end()
    },
  )
}

const html = (await get('/')).bytes.toString()
const names = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] ?? '')

t.test('the page and all that it names are there, of its own origin, named by hash', async (t) => {
  t.ok(names.length >= 3)
  for (const name of names) {
    t.match(name, /^\/console\/[\w-]+-[A-Z0-9]{8}\.(?:js|css|svg)$/)
    t.equal((await get(name)).status, 200, name)
  }
  t.notMatch(html, /style=|<style|<script(?! type="module" src=)/, 'nothing inline')
})

t.test('every file comes under the same policy, and is kept for ever but the page', async (t) => {
  for (const path of ['/', ...names]) {
    const { headers } = await get(path)
    t.match(headers, {
      'content-security-policy': /^default-src 'none'; script-src 'self'; style-src 'self'; /,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      vary: 'Accept-Encoding',
      'cache-control': path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
    })
    t.match(headers['content-security-policy'], /frame-ancestors 'none'/)
    t.notMatch(headers['content-security-policy'], /unsafe|\*|https?:/)
  }
})

t.test('a browser gets what it can unpack, and nothing that it has', async (t) => {
  const path = names.find((name) => name.endsWith('.js')) ?? ''
  const plain = await get(path)
  const brotli = await get(path, { 'Accept-Encoding': 'gzip, deflate, br;q=0.9' })
  const gzip = await get(path, { 'Accept-Encoding': 'gzip, br;q=0' })
  t.equal(brotli.headers['content-encoding'], 'br')
  t.equal(gzip.headers['content-encoding'], 'gzip')
  t.equal(plain.headers['content-encoding'], undefined)
  t.ok(brotliDecompressSync(brotli.bytes).equals(plain.bytes))
  t.ok(gunzipSync(gzip.bytes).equals(plain.bytes))
  const tag = String(plain.headers['etag'])
  for (const known of [tag, `W/${tag}`, `"x", ${tag}`]) {
    const again = await get(path, { 'If-None-Match': known })
    t.equal(again.status, 304)
    t.equal(again.bytes.length, 0)
  }
  t.equal((await get(path, { 'If-None-Match': '"x"' })).status, 200)
})

t.test('HEAD answers without a body; another method is 405', async (t) => {
  const { status, headers, bytes } = await get('/', {}, 'HEAD')
  t.strictSame([status, bytes.length], [200, 0])
  t.ok(Number(headers['content-length']) > 100)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    t.match(await get('/', {}, method), { status: 405, headers: { allow: 'GET, HEAD' } })
})

t.test('no other name is served, however it is written', async (t) => {
  for (const path of [
    '/index.html',
    '/console',
    '/console/',
    '/console/main.tsx',
    '/console/../package.json',
    '/console/..%2fpackage.json',
    '/console/%2e%2e/package.json',
    '/console//etc/passwd',
    '/console/__proto__',
    '/console/constructor',
    '/src/console/console.ts',
    '//',
  ]) {
    const { status, bytes } = await get(path)
    t.equal(status, 404, path)
    t.match(JSON.parse(bytes.toString()), { error: 'not_found' })
  }
})

t.test('plain HTTP that a router let through is refused as everywhere', async (t) => {
  const routed = await startServer(t, sql, { url, console: createConsole(file), trustProxy: true })
  const plain = await get('/', { 'X-Forwarded-Proto': 'http' }, 'GET', routed.port)
  t.equal(plain.status, 403)
  const secure = await get('/', { 'X-Forwarded-Proto': 'https' }, 'GET', routed.port)
  t.equal(secure.status, 200)
  t.match(secure.headers['strict-transport-security'], /max-age=/)
})

t.test('its files are no requests of the API', async (t) => {
  const { text } = await server.call('GET', '/metrics', { checked: false })
  t.notMatch(text, /route="\/(?:console[^"]*)?"/)
})

t.test('a checkout in which nothing was built has no page, and serves all else', async (t) => {
  const without = await startServer(t, sql, { url, console: createConsole(`${file}.none`) })
  t.equal((await get('/', {}, 'GET', without.port)).status, 404)
  t.equal((await get('/healthz', {}, 'GET', without.port)).status, 200)
})
