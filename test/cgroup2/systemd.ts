// deploy/systemd in the machine whose first process is systemd (`make test-systemd`): installed as docs/deploy.md says,
// started, used for a submission, and stopped by systemctl. Not a `.test.ts`: it installs units and creates a user.
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { createClient } from '#client'
import { startEmbeddedPostgres } from '#embedded-postgres'

if (readFileSync('/proc/1/comm', 'utf8').trim() !== 'systemd' || !existsSync('/run/order'))
  throw new Error('this runs inside the machine: make test-systemd')
// In emulation the tests take ten to twenty times as long.
t.setTimeout(900_000)

const root = resolve(import.meta.dirname, '../..')
const place = '/opt/runledger'
const group = '/sys/fs/cgroup/system.slice/runledger-worker.service'
const firstUid = 61_000

interface Ended {
  readonly status: number
  readonly text: string
}

const run = (command: string, words: readonly string[], more = {}): Promise<Ended> =>
  new Promise((done) => {
    const options = { env: { ...process.env, ...more }, maxBuffer: 64 * 1024 * 1024 }
    execFile(command, words, options, (error, out, err) =>
      done({ status: error === null ? 0 : Number(error.code), text: out + err }),
    )
  })
const systemctl = (...words: readonly string[]): Promise<Ended> => run('systemctl', words)

async function property(unit: string, name: string): Promise<string> {
  return (await systemctl('show', unit, `--property=${name}`, '--value')).text.trim()
}

/** Compares two values, and prints the unit's journal when they differ. */
async function equal(t: Test, found: unknown, wanted: unknown, unit: string): Promise<void> {
  const same = t.equal(found, wanted, unit)
  if (!same) t.comment((await run('journalctl', ['--no-pager', '--lines=40', '-u', unit])).text)
}

/** Returns the processes of the slots' users. */
function findBoxes(): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      const { uid } = statSync(`/proc/${name}`)
      return /^\d+$/.test(name) && uid >= firstUid && uid < firstUid + 1000
    } catch {
      return false // the process has ended meanwhile
    }
  })
}

const address = (login: string, password: string): string =>
  `postgres://${login}:${password}@127.0.0.1:5432/runledger`

async function install(): Promise<string> {
  const server = await startEmbeddedPostgres({
    directory: '/tmp/database',
    port: 5432,
    settings: { fsync: 'off', full_page_writes: 'off' },
  })
  t.teardown(() => server.stop())
  mkdirSync(place, { recursive: true })
  await run('mount', ['--bind', root, place])
  appendFileSync('/etc/group', 'runledger:x:980:\n')
  appendFileSync('/etc/passwd', 'runledger:x:980:980::/nonexistent:/usr/sbin/nologin\n')
  mkdirSync('/etc/runledger')
  const write = (process: string, variables: Readonly<Record<string, string>>): void => {
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(`/etc/runledger/${process}.env`, lines.join(''), { mode: 0o600 })
  }
  write('migrate', {
    DATABASE_URL: address('release', 'r'),
    ADMIN_DATABASE_URL: server.url('postgres'),
    WEB_PASSWORD: 'we',
    WORKER_PASSWORD: 'wo',
  })
  write('web', { DATABASE_URL: address('web', 'we'), SYNC_WAIT_SECONDS: '120' })
  write('worker', {
    DATABASE_URL: address('worker', 'wo'),
    LANGUAGES: 'python',
    SLOTS: '1',
    // These tests do not cover what is prepared ahead of programs.
    ACCELERATORS: 'off',
    LEASE_SECONDS: '120',
    FIRST_UID: String(firstUid),
  })
  for (const unit of globSync(`${root}/deploy/systemd/*.service`))
    cpSync(unit, `/etc/systemd/system/${unit.split('/').at(-1)}`)
  await systemctl('daemon-reload')
  return address('release', 'r')
}

t.test('units run a service, and nothing is left of it', { timeout: 900_000 }, async (t) => {
  const owner = await install()
  await equal(t, (await systemctl('start', 'runledger-migrate')).status, 0, 'runledger-migrate')
  const enabled = await systemctl('enable', '--now', 'runledger-web', 'runledger-worker')
  t.equal(enabled.status, 0, enabled.text)
  const words = ['keys', 'issue', '--account', 'vm', '--name', 'units']
  const issued = await run(`${place}/runledger`, words, { DATABASE_URL: owner })
  const { key } = JSON.parse(issued.text) as { key: string }
  for (let left = 120; left > 0; left -= 1) {
    const answer = await fetch('http://127.0.0.1:3000/readyz').catch(() => null)
    if (answer?.status === 200) break
    await sleep(1000)
  }
  const client = createClient({ url: 'http://127.0.0.1:3000', apiKey: key })
  const record = await client.run({ language: 'python', code: 'print(6 * 7)' })
  t.match(record, { verdict: 'AC', stdout: '42\n' })
  for (const unit of ['runledger-web', 'runledger-worker'])
    await equal(t, await property(unit, 'NRestarts'), '0', unit)
  t.equal(await property('runledger-worker', 'Delegate'), 'yes')
  t.ok(globSync(`${group}/*/cgroup.procs`).length > 0, 'groups of its own in the delegated one')
  t.equal(statSync('/var/cache/runledger').mode & 0o777, 0o711)
  t.equal((await systemctl('reload', 'runledger-web')).status, 0)
  await equal(t, await property('runledger-web', 'ActiveState'), 'active', 'runledger-web')

  for (const unit of ['runledger-worker', 'runledger-web']) {
    t.equal((await systemctl('stop', unit)).status, 0)
    await equal(t, await property(unit, 'Result'), 'success', unit)
    await equal(t, await property(unit, 'ExecMainStatus'), '0', unit)
  }
  t.notOk(existsSync(group), 'systemd has removed the group, with all in it')
  t.strictSame(findBoxes(), [], 'no process of a slot')
})
