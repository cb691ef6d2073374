// The command line from its words to its end: keys, and `submit`. Tests the output, the log entries and the exit status.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { readStream } from '#event'
import { parseLines, runAsProcess, startCommandLine } from '../helper/command-line.ts'
import type { Ended } from '../helper/command-line.ts'
import { openTestDatabase } from '../helper/database.ts'
import { makeDirectory } from '../helper/directory.ts'
import { findAwaited, finish } from '../helper/execution.ts'
import { findBroken, listTypes } from '../helper/ledger.ts'
import { startServer, untilAvailable } from '../helper/server.ts'

const { sql, url: databaseUrl } = await openTestDatabase(t)
const [server, other] = [
  await startServer(t, sql, { url: databaseUrl }),
  await startServer(t, sql, { url: databaseUrl }),
]
const serviceUrl = `http://127.0.0.1:${server.port}`
const directory = makeDirectory(t)
const program = join(directory, 'program.py')
writeFileSync(program, 'print(input())')
const absentId = '018f0000-0000-7000-8000-000000000000'

const command = startCommandLine(t, { DATABASE_URL: databaseUrl })

async function issue(...words: string[]): Promise<{ id: string; key: string }> {
  const { out } = await command(['keys', 'issue', '--account', 'acme', ...words])
  return JSON.parse(out) as { id: string; key: string }
}

const statusOf = async (key: string, { call } = server): Promise<number> =>
  (await untilAvailable(() => call('GET', '/api/languages', { key }))).status

const inForce = async (tier: string): Promise<number> =>
  (
    await sql`select from audit.api_key where tier = ${tier} and revoked_at is null and (expires_at is null or expires_at > now())`
  ).length

/** Checks that a command has said in a sentence what is wrong, and nothing else. */
function isRefused(t: Test, { status, out, err }: Ended, expected: number, reason: RegExp): void {
  t.strictSame([status, out], [expected, ''], err)
  t.match(err, reason)
  t.notMatch(err, /\n\s+at /, 'no stack')
}

t.test('keys issue --role operator prints a key that looks and submits nothing', async (t) => {
  const { id, key } = await issue('--role', 'operator', '--read-only')
  t.match(key, /^rl_oper_/)
  t.equal(await statusOf(key), 403)
  const { status, body } = await server.call('GET', '/api/operator/overview', { key })
  t.match({ status, body }, { status: 200, body: { read_only: true } })
  const { out } = await command(`audit ${id}`)
  t.match(out, /Operator’s key rl_oper_\w{4}… issued for account acme; read-only; by /)
  t.match((await command('keys list --account acme')).out, /"role":"operator","read_only":true/)
})

t.test('keys issue prints a key that works, once, and appends its event', async (t) => {
  const { status, out, err } = await command('keys issue --account acme')
  t.equal(status, 0)
  t.equal(err, '')
  const { id, key } = JSON.parse(out) as { id: string; key: string }
  t.match(key, /^rl_live_/)
  t.equal(await statusOf(key), 200)
  const [event] = await readStream(sql, id)
  t.match(event, {
    version: 1,
    type: 'api_key.issued',
    data: { account: 'acme', tier: 'beta', replaces: null, expires_at: null },
    metadata: { actor: { operator: String } },
  })
  const secret = key.slice('rl_live_'.length + 8)
  const listed = await command('keys list')
  const audited = await command(`audit ${id}`)
  for (const { status, out } of [listed, audited]) {
    t.equal(status, 0)
    t.match(out, key.slice(0, 'rl_live_'.length + 4), 'its first letters name it')
    t.notMatch(out, secret)
  }
})

t.test('keys have names, by which they are listed, told and revoked', async (t) => {
  const { id, key } = await issue('--name', 'ci of café')
  const { id: other } = await issue('--name', 'ci of café', '--tier', 'unlimited')
  const listed = (await command('keys list --account acme')).out
  t.match(listed.match(/"name":"ci of café"/g), { length: 2 }, 'several may have one name')
  t.match(listed, '"name":null')
  t.match(
    (await command(`audit ${id}`)).out,
    /issued for account acme, tier beta; named ci of café; by /,
  )
  t.match((await readStream(sql, id))[0], { data: { name: 'ci of café' } })

  const byEnd = await command(`audit ${id.slice(-12)}`)
  t.match(byEnd, { status: 0, out: `key ${id}` }, 'its life by its end')
  for (const [part, status, err] of [
    ['ffff-ffff', 1, /no such submission, webhook, key or worker/],
    ['abc', 64, /at least 4 characters/],
    ["' or 1", 64, /is not the id of/],
  ] as const)
    t.match(await command(['audit', part]), { status, err, out: '' })

  const both = await command(['keys', 'revoke', 'ci of café'])
  t.match(both, { status: 1, err: /ci of café could be 2 keys: / }, 'none of two is chosen')
  t.match(both.err, id)
  t.match(both.err, other)
  t.match(await command(`keys revoke ${other.slice(-12)}`), { status: 0 })
  const rotated = await command(['keys', 'rotate', 'ci of café', '--overlap', '3600'])
  const successor = JSON.parse(rotated.out) as { id: string }
  t.match((await readStream(sql, successor.id))[0], { data: { name: 'ci of café', replaces: id } })
  t.match(await command(['keys', 'revoke', 'ci of café']), { status: 1 }, 'both are in force')
  t.match(await command(`keys revoke ${id}`), { status: 0 })
  const out = `{"id":"${successor.id}","revoked":true}\n`
  t.match(await command(['keys', 'revoke', 'ci of café']), { status: 0, out })
  t.match(await command(['keys', 'revoke', 'ci of café']), { status: 64, err: /nor its beginning/ })

  const like = successor.id.slice(-4)
  const { id: third } = await issue('--name', like)
  const either = await command(`keys revoke ${like}`)
  t.match(either, { status: 1, err: successor.id }, 'a name that is also a part of an id')
  t.match(either.err, third)
  const before = (await command('keys list')).out
  for (const wrong of ['', ' ci', 'ci ', 'a\nb', 'a\u0007', 'a\u202eb', 'n'.repeat(65), key])
    t.match(await command(['keys', 'issue', '--account', 'acme', '--name', wrong]), {
      status: 64,
      err: /--name /,
      out: '',
    })
  t.equal((await command('keys list')).out, before)
  await t.rejects(sql`update runledger.api_key set name = ${'a\nb'} where id = ${id}`, {
    code: '23514',
  })
})

t.test('keys list names one account’s keys, newest first', async (t) => {
  const first = await issue('--tier', 'unlimited')
  const second = await issue()
  const list = async (more = ''): Promise<Record<string, unknown>[]> =>
    parseLines((await command(`keys list${more}`)).out)
  const all = await list()
  const ids = all.slice(0, 2).map(({ id }) => id)
  t.strictSame(ids, [second.id, first.id])
  t.match(all[1], { account: 'acme', tier: 'unlimited', revoked_at: null })
  const own = await list(' --account acme')
  t.ok(own.every(({ account }) => account === 'acme'))
  t.ok(own.length < all.length, 'the servers of this file have accounts of their own')
  const nothing = { status: 0, out: '', err: '' }
  t.strictSame(await command('keys list --account nobody'), nothing)
})

t.test('a key that was revoked is refused within 5 s by every web process', async (t) => {
  const { id, key } = await issue()
  for (const web of [server, other]) t.equal(await statusOf(key, web), 200)
  const out = `{"id":"${id}","revoked":true}\n`
  t.match(await command(`keys revoke ${id.slice(-12)}`), { status: 0, out })
  // A revoked key fails at once, because nothing is cached. The command has ended, so this test does not wait for the five
  // seconds.
  for (const web of [server, other]) t.equal(await statusOf(key, web), 401)
  t.strictSame(await listTypes(sql, id), ['api_key.issued', 'api_key.revoked'])
  for (const action of ['revoke', 'rotate'])
    isRefused(t, await command(`keys ${action} ${id}`), 1, /no valid key with this ID/)
})

t.test('keys rotate lets the old key work beside the new one for the overlap', async (t) => {
  const old = await issue()
  const { status, out } = await command(`keys rotate ${old.id} --overlap 3`)
  t.equal(status, 0)
  const successor = JSON.parse(out) as { id: string; key: string }
  const [event] = (await readStream(sql, old.id)).slice(-1)
  t.match(event, { type: 'api_key.rotated', data: { replaced_by: successor.id } })
  t.match((await readStream(sql, successor.id))[0], {
    type: 'api_key.issued',
    data: { account: 'acme', tier: 'beta', replaces: old.id },
  })
  const end = Date.parse(event?.data['works_until'] as string)
  const statusBefore = await statusOf(old.key)
  if (Date.now() < end) t.equal(statusBefore, 200)
  t.equal(await statusOf(successor.key), 200)
  await sleep(Math.max(0, end - Date.now()) + 200)
  t.equal(await statusOf(old.key), 401)
  t.equal(await statusOf(successor.key), 200)
})

t.test('a key ends by itself when its time has come', async (t) => {
  const tomorrow = new Date(Date.now() + 86_400_000)
  const { id, key } = await issue('--expires', tomorrow.toISOString())
  t.equal(await statusOf(key), 200)
  const [row] = await sql`select expires_at from runledger.api_key where id = ${id}`
  t.strictSame(row?.['expires_at'], tomorrow)
  await sql`update runledger.api_key set expires_at = now() where id = ${id}`
  t.equal(await statusOf(key), 401)
})

t.test('a tier is made and changed; each change is an event and holds at once', async (t) => {
  const set = (more: string): Promise<Ended> =>
    command(`tiers set silver --concurrent unlimited --requests ${more}`)
  const out = '{"name":"silver","requests_per_minute":2,"concurrent_executions":null}\n'
  t.match(await set('2'), { status: 0, out })
  const { id, key } = await issue('--tier', 'silver')
  const usual = {
    requests_per_minute: null,
    concurrent_executions: null,
    blob_bytes: 268_435_456,
    weight: 1,
    total_seconds: 600,
    output_bytes: null,
    cores: null,
    batch_items: 20,
  }
  t.strictSame(
    parseLines((await command('tiers list')).out).map((tier) => {
      const { limits: _, ...rest } = tier
      return rest
    }),
    [
      {
        ...usual,
        name: 'beta',
        requests_per_minute: 60,
        concurrent_executions: 10,
        output_bytes: 1_073_741_824,
        keys: await inForce('beta'),
      },
      { ...usual, name: 'silver', requests_per_minute: 2, keys: 1 },
      {
        ...usual,
        name: 'unlimited',
        blob_bytes: null,
        total_seconds: 3600,
        batch_items: 1000,
        keys: await inForce('unlimited'),
      },
    ],
  )
  t.strictSame([await statusOf(key), await statusOf(key), await statusOf(key)], [200, 200, 429])
  await set('3')
  t.equal(await statusOf(key), 200, 'the tier is wider now')
  t.match(await set('3 --weight 4'), { out: /"weight":4/ })
  t.match(await set('3 --weight 1001'), { status: 64, err: /--weight must be a number/ })
  t.match(await set('3 --total-seconds 90'), { out: /"total_seconds":90/ })
  for (const wrong of ['0', '86401'])
    t.match(await set(`3 --total-seconds ${wrong}`), {
      status: 64,
      err: /--total-seconds must be a /,
    })
  t.match(await set('3 --cores 4'), { out: /"cores":4/ })
  t.match(await set('3 --cores 0'), { status: 64, err: /--cores must be a number from 1 to 1024/ })
  await set('3')
  const stays = /"name":"silver".*"weight":4,"total_seconds":90,.*"cores":4/
  t.match((await command('tiers list')).out, stays, 'what is not named stays')
  t.match(await set('3 --cores share'), { out: /"cores":null/ })
  await set('3')

  const [stream] =
    await sql`select stream_id as id from runledger.event where type = 'tier.defined' limit 1`
  const events = await readStream(sql, String(stream?.['id']))
  t.match(events, [
    { version: 1, data: { name: 'silver', requests_per_minute: 2, concurrent_executions: null } },
    { version: 2, data: { requests_per_minute: 3 }, metadata: { actor: { operator: String } } },
  ])
  t.match(
    (await command(['audit', String(stream?.['id'])])).out,
    /Tier silver was set to 3 requests/,
  )
  for (const words of [
    'silver --requests 0 --concurrent 1',
    'silver --requests 1 --concurrent x',
    'Silver --requests 1 --concurrent 1',
  ])
    t.match(await command(`tiers set ${words}`), { status: 64, out: '' }, words)
  t.equal((await readStream(sql, String(stream?.['id']))).length, 8)

  await t.test('and a key is brought to another one', async (t) => {
    const answer = await command(`keys change ${id} --tier unlimited`)
    t.match(answer, { status: 0, out: `{"id":"${id}","tier":"unlimited"}\n` })
    t.equal(await statusOf(key), 200, 'its window bounds it no more')
    const [, changed] = await readStream(sql, id)
    t.match(changed, {
      type: 'api_key.changed',
      data: { tier: 'unlimited' },
      metadata: { actor: { operator: String } },
    })
    await command(`keys revoke ${id}`)
    const told = await command(`keys change ${id} --tier beta`)
    t.match(told, { status: 1, err: /no valid key with this ID/ })
    t.equal((await readStream(sql, id)).length, 3)
    t.strictSame(await findBroken(sql), [])
  })
})

t.test('a tier is changed in what is named alone; a new one needs both', async (t) => {
  const set = (more: string): Promise<Ended> => command(`tiers set iron${more}`)
  for (const words of ['', ' --requests 5', ' --weight 3'])
    t.match(await set(words), { status: 64, err: /no such tier: a new one needs --/ })
  t.equal((await set(' --requests 5 --concurrent 7')).status, 0)
  const read = async (): Promise<unknown> =>
    (await sql`select * from audit.tier where name = 'iron'`)[0]
  for (const [words, expected] of [
    [' --weight 3', { requests_per_minute: 5, concurrent_executions: 7, weight: 3 }],
    [' --concurrent unlimited', { requests_per_minute: 5, concurrent_executions: null }],
    [' --cores 2', { requests_per_minute: 5, concurrent_executions: null, weight: 3, cores: 2 }],
    [' --requests 9', { requests_per_minute: 9, concurrent_executions: null }],
  ] as const) {
    t.equal((await set(words)).status, 0)
    t.match(await read(), expected)
  }
  await sql`delete from runledger.tier where name = 'iron'`
})

t.test('what a tier’s submissions may ask for is set by name; the rest stays', async (t) => {
  const set = (more: string): Promise<Ended> =>
    command(`tiers set gold --requests 5 --concurrent 5${more}`)
  t.equal((await set(' --limits cpu_time=99,processes=7')).status, 0)
  t.equal((await set(' --limits processes=8')).status, 0)
  t.equal((await set('')).status, 0)
  const [row] = await sql`select limits from runledger.tier where name = 'gold'`
  t.match(row?.['limits'], { cpu_time: 99, processes: 8, wall_time: 30 })
  for (const wrong of ['cpu=1', 'cpu_time=0', 'cpu_time', 'cpu_time=1e3'])
    t.match(await set(` --limits ${wrong}`), { status: 64, err: /--limits must be a list/ })
  await sql`delete from runledger.tier where name = 'gold'`
})

t.test('what a tier’s accounts may have in blobs and outputs is set, or stays', async (t) => {
  const set = (more: string): Promise<Ended> =>
    command(`tiers set bronze --requests 5 --concurrent 5${more}`)
  for (const [name, usual] of [
    ['blob', 268_435_456],
    ['output', null],
  ] as const) {
    const column = `${name}_bytes`
    const read = async (): Promise<unknown> =>
      (await sql`select * from audit.tier where name = 'bronze'`)[0]?.[column]
    await set('')
    t.equal(await read(), usual)
    const out = new RegExp(`"${column}":5000000000`)
    t.match(await set(` --${name}-bytes 5000000000`), { status: 0, out })
    await set(' --limits processes=8')
    t.equal(await read(), 5_000_000_000)
    await set(` --${name}-bytes unlimited`)
    t.equal(await read(), null)
    const err = new RegExp(`--${name}-bytes must be a number`)
    for (const wrong of ['0', '-1', '1e9', '9999999999999999', ''])
      t.match(await set(` --${name}-bytes=${wrong}`), { status: 64, err })
  }
  await sql`delete from runledger.tier where name = 'bronze'`
})

t.test('a call that is wrong makes no key, and says what is wrong', async (t) => {
  const count = async (): Promise<number> =>
    (await sql`select count(*) as count from runledger.api_key`)[0]?.['count'] as number
  const { id } = await issue()
  const before = await count()
  const tiers =
    /no tier gold; the tiers are beta \(60 requests a minute, 10 executions at once\), .*unlimited \(no limits\)/
  const rows: [string, number, RegExp][] = [
    ['keys', 64, /keys issue/],
    ['keys issue', 64, /keys issue: --account NAME is missing\n/],
    ['keys issue --account ', 64, /keys issue: --account NAME is missing\n/],
    ['keys issue --account acme --tier gold', 1, tiers],
    [`keys change ${id} --tier gold`, 1, /no tier gold; the tiers are beta/],
    ['keys issue --account acme --role owner', 64, /--role must be submit or operator/],
    ['keys issue --account acme --read-only', 64, /--read-only needs --role operator/],
    ['keys issue --account acme --role operator --tier beta', 64, /--tier/],
    ['keys issue --account acme --expires soon', 64, /--expires/],
    ['keys issue --account acme --expires 2001-01-01', 64, /--expires/],
    [`keys rotate ${id} --overlap x`, 64, /--overlap/],
    [`keys rotate ${id} --overlap=-1`, 64, /--overlap/],
    [`keys rotate ${id} --overlap 9999999999999999`, 64, /--overlap/],
    [`keys rotate ${absentId}`, 1, /no valid key/],
    [`keys revoke ${absentId}`, 1, /no valid key/],
    ['keys revoke x', 64, /not the id of a key/],
    ['keys issue --colour x', 64, /--colour/],
  ]
  for (const [line, status, err] of rows) isRefused(t, await command(line), status, err)
  t.equal(await count(), before)
})

t.test('submit takes the service and the key from the environment', async (t) => {
  const { key } = await issue('--tier', 'unlimited')
  const environment = { RUNLEDGER_URL: serviceUrl, RUNLEDGER_API_KEY: key }
  const { status, out, err } = await command(`submit ${program} --no-wait`, environment)
  t.strictSame([status, err], [0, ''])
  const { id } = JSON.parse(out) as { id: string }
  t.match((await server.call('GET', `/api/result/${id}`, { key })).body, { language: 'python' })

  await t.test('and - is what stands on its standard input', async (t) => {
    const words = ['submit', '-', '--language', 'cpp', '--no-wait']
    const { out } = await runAsProcess(words, environment, 'int main() {}')
    const piped = JSON.parse(out) as { id: string }
    const [row] = await sql`
      select code, language from runledger.body join runledger.submission on id = submission_id where id = ${piped.id}`
    t.strictSame([String(row?.['code']), row?.['language']], ['int main() {}', 'cpp'])
  })
})

t.test('submit takes them from flags too; its status follows the verdict', async (t) => {
  const { key } = await issue('--tier', 'unlimited')
  const keyFile = join(directory, 'key')
  writeFileSync(keyFile, `${key}\n`, { mode: 0o600 })
  writeFileSync(join(directory, 'input'), 'hello')
  writeFileSync(join(directory, 'output'), 'hello\n')
  const options = `--language py --stdin ${join(directory, 'input')} --json --url ${serviceUrl} --key-file ${keyFile}`
  const words = ['submit', program, '--expected', join(directory, 'output'), ...options.split(' ')]
  const running = command(words, { RUNLEDGER_URL: 'http://127.0.0.1:1', RUNLEDGER_API_KEY: 'x' })
  const id = await findAwaited(sql)
  const [body] = await sql`
    select stdin, expected_stdout from runledger.body where submission_id = ${id}`
  t.equal(String(body?.['stdin']), 'hello')
  t.equal(String(body?.['expected_stdout']), 'hello\n')
  await finish(sql, id, { verdict: 'WA', stdout: 'hallo\n' })
  const { status, out, err } = await running
  t.strictSame([status, err], [1, ''])
  t.match(JSON.parse(out), { id, verdict: 'WA', stdout: 'hallo\n' })
})

t.test('submit without a file, a key or a service says so', async (t) => {
  const key = { RUNLEDGER_API_KEY: await server.issue(), RUNLEDGER_URL: serviceUrl }
  const none = join(directory, 'none')
  const rows: [string, Record<string, string>, number, RegExp][] = [
    ['submit', key, 64, /submit FILE/],
    [`submit ${program} ${program}`, key, 64, /submit FILE/],
    [`submit ${program}`, { RUNLEDGER_URL: serviceUrl }, 64, /RUNLEDGER_API_KEY/],
    [`submit ${program} --key-file ${none}`, key, 66, /no such file/],
    [`submit ${program} --url nonsense`, key, 64, /URL/],
    [`submit ${program} --key x`, key, 64, /--key/],
    ['submit -', key, 64, /use --language \(python, /],
    ['submit - --stdin -', key, 64, /only one of FILE, --stdin and --expected may be -/],
  ]
  for (const [line, environment, status, err] of rows)
    isRefused(t, await command(line, environment), status, err)
})
