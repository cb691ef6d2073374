// `runledger` with any Node on the path and from any directory; and the database of `make run`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { copyCheckout } from '../helper/copied-checkout.ts'
import { openTestDatabase, withDatabase } from '../helper/database.ts'

const root = resolve(import.meta.dirname, '../..')
const { url } = await openTestDatabase(t)
const folder = copyCheckout(t)

/** Makes a folder for the path whose `node` is the given script; with null it has no `node`. */
function makePath(name: string, script: string | null): string {
  const path = join(folder, name)
  mkdirSync(path)
  if (script !== null) writeFileSync(join(path, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  // The tools that the launcher itself calls.
  for (const tool of ['sh', 'dirname', 'readlink'])
    symlinkSync(`/usr/bin/${tool}`, join(path, tool))
  return path
}

const noNode = makePath('no-node', null)
const oldNode = makePath('old-node', 'echo 20')

function call(
  words: readonly string[],
  { launcher = join(folder, 'runledger'), path = oldNode, environment = {} } = {},
): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(launcher, words, {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: path, ...environment },
  })
  return { status, out: stdout, err: stderr }
}

t.test('it finds the project’s Node from anywhere, past an old one on the path', async (t) => {
  const link = join(folder, 'link')
  symlinkSync(join(folder, 'runledger'), link)
  for (const launcher of [join(root, 'runledger'), join(folder, 'runledger'), link]) {
    for (const path of [oldNode, noNode]) {
      const { status, out, err } = call(['--help'], { launcher, path })
      t.strictSame([status, err], [0, ''], launcher)
      t.match(out, /keys issue/)
    }
  }
})

t.test('one that is not installed takes a new Node from the path, or says none is', async (t) => {
  const bare = copyCheckout(t, [])
  const launcher = join(bare, 'runledger')
  t.match(call(['--help'], { launcher }), { status: 69, err: /^runledger: .*make setup.*\n$/ })
  // The packages are installed and Node is not, as after `npm ci --omit=dev`.
  mkdirSync(join(bare, 'node_modules'))
  for (const name of ['valibot', 'uuid', 'postgres'])
    symlinkSync(join(root, 'node_modules', name), join(bare, 'node_modules', name))
  for (const path of [oldNode, noNode]) {
    const { status, out, err } = call(['--help'], { launcher, path })
    t.strictSame([status, out], [69, ''])
    t.match(err, /^runledger: there is no Node from 24 on.*\n$/)
  }
  const newNode = makePath('new-node', `exec '${process.execPath}' "$@"`)
  t.match(call(['--help'], { launcher, path: newNode }), { status: 0, out: /keys issue/ })
})

t.test('without DATABASE_URL a command finds the database that `make run` keeps', async (t) => {
  t.match(call(['keys', 'list']), { status: 78, err: /^DATABASE_URL is not set, and .*\n$/ })
  mkdirSync(join(folder, '.data'), { mode: 0o700 })
  writeFileSync(join(folder, '.data/database-url'), `${url}\n`, { mode: 0o600 })
  const { status, out } = call(['keys', 'issue', '--account', 'kept'])
  t.equal(status, 0)
  t.match(JSON.parse(out), { key: /^rl_live_/ })
  const elsewhere = { DATABASE_URL: withDatabase(url, 'nowhere') }
  t.match(call(['keys', 'list'], { environment: elsewhere }), { status: 78 }, 'unless it is set')

  await t.test('and says so when that one is not up', async (t) => {
    writeFileSync(
      join(folder, '.data/database-url'),
      'postgres://postgres:hunter2@127.0.0.1:1/postgres',
    )
    const { status, out, err } = call(['keys', 'list'])
    t.strictSame([status, out], [69, ''])
    t.equal(
      err,
      'PostgreSQL at 127.0.0.1:1 cannot be reached (ECONNREFUSED): start it with `make run`, or set DATABASE_URL\n',
    )
  })
})

t.test('a kept file that this user may not read is named in a sentence', async (t) => {
  // Root may read every file, so directories stand for files of another user.
  for (const [name, variable, words] of [
    ['database-url', 'DATABASE_URL', ['keys', 'list']],
    ['operator-key', 'RUNLEDGER_OPERATOR_KEY', ['running']],
  ] as const) {
    const file = join(folder, '.data', name)
    rmSync(file, { force: true })
    mkdirSync(file)
    const { status, out, err } = call(words)
    t.strictSame([status, out], [78, ''])
    t.match(err, new RegExp(`^${variable} is not set, and .data/${name} cannot be read .*\\n$`))
  }
})

t.test('the Procfile’s processes start with any Node on the path', async (t) => {
  const lines = readFileSync(join(root, 'Procfile'), 'utf8').trim().split('\n')
  for (const line of lines) {
    const [kind, command = ''] = line.split(': ')
    for (const path of [oldNode, noNode]) {
      const { status, stderr } = spawnSync('/bin/sh', ['-c', `exec ${command}`], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: path },
      })
      t.equal(status, 78, `${kind}: ${stderr}`)
      t.match(stderr, 'DATABASE_URL')
    }
  }
  t.equal(lines.length, 3)
  t.match(call(['web', 'x']), { status: 64 }, 'and nothing more on the line')
})

t.test('npm puts it on the path', async (t) => {
  const { default: metadata } = await import('#package', { with: { type: 'json' } })
  t.strictSame(metadata.bin, { runledger: './runledger' })
})
