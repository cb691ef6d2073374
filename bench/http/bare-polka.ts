// The floor of every answer: a polka route that answers at once. It is a separate process, like the web process.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import polka from 'polka'

const body = JSON.stringify({ id: '018f0000-0000-7000-8000-000000000000' })

const app = polka().all('/', (request, response) => {
  request.resume()
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
})
app.listen(0, '127.0.0.1', () => {
  const { port } = (app.server as Server).address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ msg: 'bare.started', port })}\n`)
})
process.once('SIGTERM', () => process.exit(0))
