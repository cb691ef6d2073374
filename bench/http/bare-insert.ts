// The floor of a submission that runs nothing: a polka route that inserts one durable row and answers. It is a separate
// process, like the web process, with the same driver and as many connections. Its argument is the database's address.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import polka from 'polka'
import { createDatabase } from '#database'
import { insertDurably } from '../database.ts'

// As many connections as a web process has by default.
const sql = createDatabase({ url: process.argv[2] ?? '', connections: 10, name: 'bench bare' })
const answer = JSON.stringify({ id: '018f0000-0000-7000-8000-000000000000' })

const app = polka().post('/', async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  await insertDurably(sql, Buffer.concat(chunks))
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(answer),
  })
  response.end(answer)
})
app.listen(0, '127.0.0.1', () => {
  const { port } = (app.server as Server).address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ msg: 'bare.started', port })}\n`)
})
process.once('SIGTERM', () => process.exit(0))
