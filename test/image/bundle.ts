// The bundle of deploy/bundle: packed from the image, unpacked, and installed in a network namespace that has only lo, with
// a separate image store. Runs a program in each language, verifies the log, and checks every refusal by name. `make
// test-bundle` runs this.
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import t from 'tap'
import { listLinks, readPages } from '../docs/page.ts'
import { imageName } from './container.ts'
import type { Ended } from './container.ts'
import { configurePodman, startIsolatedHost } from './isolated.ts'

const root = resolve(import.meta.dirname, '../..')
// Not in /tmp, which may be in memory.
const at = mkdtempSync('/var/tmp/runledger-bundle-')
const archive = join(at, 'runledger-bundle.tar')
const unpacked = join(at, 'runledger-bundle')
const state = join(at, 'state')
const host = await startIsolatedHost()
const ownPodman = configurePodman(join(at, 'podman'))
mkdirSync(unpacked)

t.teardown(async () => {
  if (existsSync(state)) await onHost(['./compose.sh', 'down', '--volumes'])
  await onHost(['podman', 'network', 'rm', '--force', 'runledger_default'])
  await onHost(['podman', 'system', 'reset', '--force'])
  host.remove()
  rmSync(at, { recursive: true, force: true })
})

/** Runs a command on the host, in the unpacked bundle. */
const onHost = (words: readonly string[], podman = ownPodman): Promise<Ended> =>
  host.run(unpacked, words, { ...podman, STATE: state, ENGINE: 'podman' })

function pack(out: string): string {
  const env = { ...process.env, IMAGE: imageName, OUT: out, ENGINE: 'podman' }
  execFileSync('deploy/bundle/build.sh', { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return readFileSync(`${out}.sha256`, 'utf8')
}

/** Changes a byte in the middle of a file; a second call restores it. */
function flipByte(path: string): void {
  const file = openSync(path, 'r+')
  const place = Math.floor(statSync(path).size / 2)
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, place)
  writeSync(file, Buffer.from([byte[0]! ^ 1]), 0, 1, place)
  closeSync(file)
}

const checkArchive = (): Promise<Ended> =>
  onHost(['sh', '-c', `cd ${at} && sha256sum --check --ignore-missing runledger-bundle.tar.sha256`])

t.test('the archive is the same each time, and its digest finds a flipped byte', async (t) => {
  const digests = pack(archive)
  const again = join(at, 'again')
  mkdirSync(again)
  t.equal(pack(join(again, 'runledger-bundle.tar')), digests)
  rmSync(again, { recursive: true })
  t.equal((await checkArchive()).status, 0)
  flipByte(archive)
  t.match(await checkArchive(), { status: 1, text: /runledger-bundle\.tar: FAILED/ })
  flipByte(archive)
  execFileSync('tar', ['-x', '-f', archive, '-C', at])
  rmSync(archive)
})

t.test('it holds the documentation with all that its pages link to, and no secret', async (t) => {
  const documents = join(unpacked, 'documents')
  for (const page of readPages()) {
    t.ok(existsSync(join(documents, page.path)), page.path)
    for (const link of listLinks(page)) {
      const [file = ''] = link.split('#')
      if (file === '' || /^(https?|mailto):/.test(link)) continue
      const target = normalize(join(dirname(page.path), file))
      t.ok(existsSync(join(documents, target)), `${page.path}: ${link}`)
    }
  }
  const listed = readFileSync(join(unpacked, 'SHA256SUMS'), 'utf8')
  t.notMatch(listed, /deploy\/\.env$|secrets|\bkey$/m)
  t.notMatch(readFileSync(join(unpacked, 'bundle.env'), 'utf8'), /PASSWORD/)
})

t.test('what is not as it was packed is refused by name, and nothing is loaded', async (t) => {
  const path = (name: string): string => join(unpacked, name)
  const sums = readFileSync(path('SHA256SUMS'), 'utf8')
  const refused = async (complaint: string): Promise<void> => {
    const { status, text } = await onHost(['./install.sh'])
    t.strictSame({ status, text }, { status: 65, text: `bundle: refused: ${complaint}\n` })
  }
  flipByte(path('images/runledger.tar'))
  await refused('images/runledger.tar is changed')
  flipByte(path('images/runledger.tar'))

  renameSync(path('compose.yaml'), join(at, 'aside'))
  await refused('compose.yaml is missing')
  symlinkSync(join(at, 'aside'), path('compose.yaml'))
  await refused('compose.yaml is no file\nbundle: refused: compose.yaml is missing')
  rmSync(path('compose.yaml'))
  renameSync(join(at, 'aside'), path('compose.yaml'))

  writeFileSync(path('images/other.tar'), 'other')
  await refused('images/other.tar is not of this bundle')
  rmSync(path('images/other.tar'))

  const own = await onHost(['sha256sum', 'documents/README.md'])
  writeFileSync(path('SHA256SUMS'), sums.replace(own.text.slice(0, 64), '0'.repeat(64)))
  await refused('SHA256SUMS is not the one whose digest came with the archive')
  writeFileSync(path('SHA256SUMS'), sums)

  renameSync(`${archive}.sha256`, join(at, 'aside'))
  await refused(`${at} has no .tar.sha256, which comes with the archive`)
  renameSync(join(at, 'aside'), `${archive}.sha256`)

  t.equal((await onHost(['podman', 'images', '--quiet'])).text, '')
  t.notOk(existsSync(state))
})

t.test('a disk that is too small is refused', async (t) => {
  const small = configurePodman(join(at, 'small'))
  const disk = join(at, 'small/root')
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', disk])
  t.teardown(() => execFileSync('umount', ['--recursive', disk]))
  const { status, text } = await onHost(['./install.sh'], small)
  t.equal(status, 65)
  t.match(text, /refused: \S+small\/root has \d+ kB, and the bundle takes \d+/)
})

t.test('it is installed without a network, and runs a program in each language', async (t) => {
  const links = await onHost(['ip', '-brief', 'link'])
  t.match(links.text, /^lo\b[^\n]*\n$/, 'the host has no interface but lo')
  const begunAt = performance.now()
  const { status, text } = await onHost(['./install.sh'])
  t.equal(status, 0, text)
  t.match(
    text,
    /^bundle: all is well: a program in each language is AC: .*python.*every hash fits/m,
  )
  t.comment(text)
  t.comment(`installed after ${((performance.now() - begunAt) / 1000).toFixed(0)} s`)
  for (const name of ['key', 'secrets.env'])
    t.equal(statSync(join(state, name)).mode & 0o777, 0o600, name)
  const ask =
    "const { status } = await fetch('http://127.0.0.1:3000/readyz'); process.exitCode = status === 200 ? 0 : 1"
  const asked = await onHost([process.execPath, '--input-type=module', '--eval', ask])
  t.equal(asked.status, 0, 'web listens on the loopback of the host')
})

t.test('installed again it keeps its key and its ledger', async (t) => {
  const key = readFileSync(join(state, 'key'), 'utf8')
  const count = async (): Promise<number> => {
    const { text } = await onHost([
      './compose.sh',
      'run',
      '--rm',
      '-T',
      'operator',
      'audit',
      'verify',
    ])
    return Number(/^(\d+) events: every hash fits/m.exec(text)?.[1])
  }
  const before = await count()
  const { status, text } = await onHost(['./install.sh'])
  t.equal(status, 0, text)
  t.equal(readFileSync(join(state, 'key'), 'utf8'), key)
  t.ok((await count()) > before)
})

t.test('a ledger that was changed by hand is not well', async (t) => {
  const change = `set session_replication_role = replica;
    update runledger.event set data = data || '{"changed": true}' where position = (select max(position) from runledger.event)`
  const words = ['-h', '/tmp', '-U', 'postgres', '-d', 'runledger', '-c', change]
  const script = 'export PGPASSWORD=$POSTGRES_PASSWORD; exec psql "$@"'
  const changed = await onHost([
    'podman',
    'exec',
    'runledger_postgres_1',
    'sh',
    '-c',
    script,
    'psql',
    ...words,
  ])
  t.equal(changed.status, 0, changed.text)
  const { status, text } = await onHost(['./check.sh'])
  t.equal(status, 1)
  t.match(text, /^bundle: NOT WELL: a program in each language is AC: .*1 of \d+ events do not fit/)
})
