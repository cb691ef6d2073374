// During a rollout, processes of the previous release work on the new schema, beside new ones. This test runs real web and
// worker processes of the newest tag on a database that this code has migrated. Without a tag there is nothing to test.
import { spawn, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { findPort } from '#embedded-postgres'
import { bareEnvironment } from '../helper/bare-environment.ts'
import { openTestDatabase } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'
import { createCaller, finalResult } from '../helper/submission.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const root = resolve(import.meta.dirname, '../..')
// The tests run as root, and the checkout may belong to another user.
const trust = ['-c', 'safe.directory=*']

const { sql, url } = await openTestDatabase(t)
const release = unpackPreviousRelease()

if (release === null) {
  t.pass('skipped: there is no release before this one, or no history')
} else {
  t.comment(`the release before: ${release.revision}`)

  t.test('its web and worker work on this schema', async (t) => {
    const worker = await startWorkerProcess(t, url, {}, release.directory)
    const post = await startWeb(release.directory)
    const answer = await post('/api/submit?wait=true', { language: 'python', code: 'print(input())', stdin: 'old', expected_stdout: 'old' }) // prettier-ignore
    t.match(answer, { status: 200, body: { verdict: 'AC', stdout: 'old\n' } })
    const batch = await post('/api/submit/batch', { submissions: [{ language: 'cpp', code: 'int main() {}' }] }) // prettier-ignore
    t.match(batch, { status: 202 })
    const [item] = batch.body['submissions'] as { id: string }[]
    t.match(await finalResult(sql, item?.id ?? ''), { verdict: 'AC' })
    t.equal(worker.child.exitCode, null)
  })

  t.test('beside processes of this code, none loses or doubles anything', async (t) => {
    const doomed = await startWorkerProcess(t, url, { LEASE_SECONDS: '3' }, release.directory)
    await startWorkerProcess(t, url, { LEASE_SECONDS: '3' })
    const posts = [await startWeb(release.directory), await startWeb()]
    const slow = { language: 'python', code: 'import time; time.sleep(1); print(1)' }
    const answers = Array.from({ length: 12 }, async (_, index) => posts[index % 2]!('/api/submit?wait=true', slow)) // prettier-ignore
    await sleep(1500)
    doomed.child.kill('SIGKILL')
    for (const answer of await Promise.all(answers))
      t.match(answer, { status: 200, body: { verdict: 'AC', stdout: '1\n' } })
  })

  t.test('the ledger keeps every promise through all of it', async (t) => {
    for (const view of ['drift', 'broken_chain', 'invariant', 'altered_body'])
      t.strictSame([...(await sql`select * from audit.${sql(view)}`)], [], view)
  })
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Starts a web process of the code in a directory; it ends with the test file. @returns a function that posts to it. */
async function startWeb(
  directory = root,
): Promise<(path: string, body: object) => Promise<Answer>> {
  const port = await findPort(0)
  const { key } = await createCaller(sql)
  const child = spawn('node', ['src/server/server.ts'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...bareEnvironment, DATABASE_URL: url, PORT: String(port) },
  })
  t.teardown(() => child.kill('SIGKILL'))
  await new Promise((done) => child.stdout.once('data', done))
  child.stdout.resume()
  return (path, body) =>
    new Promise((done, fail) => {
      const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
      request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          done({ status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] })
        })
      })
        .once('error', fail)
        .end(JSON.stringify(body))
    })
}

/**
 * Unpacks the newest tag `v…`, or the revision that PREVIOUS_RELEASE names. It is removed when the test ends.
 * @returns null before the first release, and if git or the history is missing, as in a shallow clone.
 */
function unpackPreviousRelease(): { readonly revision: string; readonly directory: string } | null {
  const name =
    process.env['PREVIOUS_RELEASE'] ??
    git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')
  const revision =
    name === null ? null : git('rev-parse', '--verify', '--short', `${name}^{commit}`)
  if (revision === null) return null
  const directory = makeDirectory(t)
  const archive = spawnSync('git', [...trust, 'archive', revision], {
    cwd: root,
    maxBuffer: 2 ** 30,
  })
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout })
  if (archive.status !== 0 || unpacked.status !== 0)
    throw new Error(`${revision} could not be unpacked: ${archive.stderr.toString()}`)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return { revision, directory }
}

/** Returns git's output; null when it is empty or git fails. */
function git(...parameters: string[]): string | null {
  const { status, stdout } = spawnSync('git', [...trust, ...parameters], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
}
