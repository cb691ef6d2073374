// Measures the largest blob through the whole service. An upload is compared with a bare insert of the same chunks in one
// transaction. A run with the blob as input, fetched or cached, is compared with a run of the same program without input.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { FnReturnedObject } from 'tinybench'
import { createClient } from '#client'
import { createCaller } from '../../test/helper/submission.ts'
import { measure } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { startWholeService } from './whole-service.ts'

const size = 16 * 1024 * 1024
const chunkSize = 256 * 1024
const code = 'import sys\nprint(len(sys.stdin.buffer.read()))'

await using service = await startWholeService('blob')
const { sql } = service
await sql`create table bare (number integer primary key, content bytea not null)`
await sql`alter table bare alter column content set storage external`
const { key: apiKey } = await createCaller(sql)
const client = createClient({ url: `http://127.0.0.1:${service.port}`, apiKey })

const bytes = randomBytes(size)
let made = 0
/** Returns bytes that were not uploaded yet. */
function next(): typeof bytes {
  bytes.writeUInt32LE((made += 1))
  return bytes
}
const known = await client.putBlob(next())

const iterations = scaleIterations(4)
const rows = await measure([
  { name: 'bare insert', iterations, prepare: empty, run: insertBare },
  {
    name: 'PUT 16 MiB',
    floor: 'bare insert',
    iterations,
    prepare: empty,
    run: async () => void (await client.putBlob(next())),
  },
  { name: 'run', iterations, run: () => runOn(null) },
  { name: 'run on 16 MiB, again', floor: 'run', iterations, run: () => runOn(known) },
  {
    name: 'run on 16 MiB, first',
    floor: 'run',
    iterations,
    prepare: empty,
    run: async () => runOn(await client.putBlob(next())),
  },
])
report('http/blob', rows)

/** Removes the rows of earlier rounds, so that the database does not grow. */
async function empty(): Promise<void> {
  await sql`truncate bare`
  await sql`delete from runledger.blob where sha256 <> ${Buffer.from(known, 'hex')}`
  await sql`update runledger.account set blob_bytes = ${size} where blob_bytes > 0`
}

async function insertBare(): Promise<void> {
  const first = made * 64
  made += 1
  await sql.begin(async (transaction) => {
    for (let at = 0; at < size; at += chunkSize) {
      const chunk = bytes.subarray(at, at + chunkSize)
      await transaction`insert into bare values (${first + at / chunkSize}, ${chunk})`
    }
  })
}

/** Times a run on a blob, without the blob's upload. */
async function runOn(name: string | null): Promise<FnReturnedObject> {
  const started = performance.now()
  const { stdout } = await client.run({
    language: 'python',
    code,
    ...(name !== null && { stdin_sha256: name }),
  })
  const overriddenDuration = performance.now() - started
  assert.equal(stdout, `${name === null ? 0 : size}\n`)
  return { overriddenDuration }
}
