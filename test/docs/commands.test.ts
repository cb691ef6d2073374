// Runs the commands that the documentation shows: the shell commands in a folder that looks like a checkout beside `make
// run`, the SQL as an auditor, and the webhook check with a real delivery.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { createClient } from '#client'
import type { ReceivedRequest } from '../webhook/receiver.ts'
import { readPage, readPages, root } from './page.ts'
import type { Block, Page } from './page.ts'
import { startDocumentedService } from './service.ts'
import { makeDirectory } from '../helper/directory.ts'

const { sql, url, origin, key, operatorKey, receiver, hook } = await startDocumentedService(t)
const client = createClient({ url: origin, apiKey: key })
const checkout = makeDirectory(t)

mkdirSync(join(checkout, '.data'))
writeFileSync(join(checkout, '.data/key'), key)
writeFileSync(join(checkout, '.data/database-url'), url)
for (const name of ['runledger', 'bench']) symlinkSync(join(root, name), join(checkout, name))
// curl fails when the service refuses, and retries when a slow machine does not answer in time.
writeFileSync(join(checkout, '.curlrc'), 'fail\nshow-error\nretry = 5\n')
const blockFile = join(checkout, '.block')

const pages = readPages().filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
const select = (page: Page, language: string): readonly Block[] =>
  page.blocks.filter((block) => block.language === language && block.notRun === null)

/** The tools of the commands that this machine does not have. */
const tools = ['curl', 'jq', 'psql'].filter(
  (tool) => !(process.env['PATH'] ?? '').split(':').some((path) => existsSync(join(path, tool))),
)

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command without the test runner's hooks, which it adds to the environment of every child. */
function run(command: string, parameters: readonly string[], input = ''): Promise<Ended> {
  const { PATH = '' } = process.env
  const env = {
    PATH,
    HOME: checkout,
    CURL_HOME: checkout,
    KEY: key,
    RUNLEDGER_API_KEY: key,
    RUNLEDGER_OPERATOR_KEY: operatorKey,
    RUNLEDGER_URL: origin,
    DATABASE_URL: url,
    PYTHONPATH: join(root, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  }
  return new Promise((resolve) => {
    const child = execFile(
      'sh',
      ['-c', 'unset NODE_OPTIONS; exec "$@"', 'sh', command, ...parameters],
      { cwd: checkout, env, timeout: 600_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

t.test('the commands of each page work, one after another', async (t) => {
  for (const page of pages) {
    const blocks = select(page, 'sh')
    const absent = tools.filter((tool) => blocks.some(({ text }) => text.includes(`${tool} `)))
    if (absent.length > 0) t.comment(`${page.path}: this machine has no ${absent.join(', ')}`)
    if (blocks.length === 0 || absent.length > 0) continue
    const script = blocks
      .flatMap(({ line, text }) => [`echo ${line} > ${blockFile}`, text])
      .join('\n')
      .replaceAll('http://localhost:3000', origin)
    const { code, stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script])
    const line = readFileSync(blockFile, 'utf8').trim()
    const said = code === 0 ? '' : `, from line ${line}: ${stderr}${stdout.slice(-2000)}`
    t.equal(code, 0, `${page.path}${said}`)
  }
})

t.test('the programs in Python of each page work', async (t) => {
  for (const page of pages) {
    for (const { line, text } of select(page, 'python')) {
      const program = text.replaceAll('http://localhost:3000', origin)
      let ended = await run('python3', ['-c', program])
      // A slow machine's database may answer too late, which is a 503.
      for (let tried = 1; ended.code !== 0 && tried < 3; tried += 1)
        ended = await run('python3', ['-c', program])
      const { code, stderr } = ended
      t.equal(code, 0, `${page.path}:${line}${stderr}`)
    }
  }
})

t.test('the queries of each page work, with an auditor’s rights', async (t) => {
  for (const page of pages) {
    for (const { line, text } of select(page, 'sql')) {
      const asking = sql.begin(async (transaction) => {
        await transaction`set local role runledger_auditor`
        await transaction.unsafe(text)
      })
      await t.resolves(asking, `${page.path}:${line}`)
    }
  }
})

t.test('what the first page shows as a record is one', async (t) => {
  const [shown] = readPage('README.md').blocks.filter(({ language }) => language === 'json')
  const record = JSON.parse(shown?.text ?? '') as Record<string, unknown>
  const request = { language: 'python', code: 'print(input()[::-1])', stdin: 'olleh' }
  const { id, ...rest } = await client.run(request)
  const today: Readonly<Record<string, unknown>> = rest
  t.match(id, /^[0-9a-f-]{36}$/)
  const named = Object.keys(today).filter((name) => today[name] !== null)
  t.strictSame(Object.keys(record), ['id', ...named])
  for (const name of ['status', 'verdict', 'stdout', 'exit_code'])
    t.equal(record[name], today[name], name)
})

t.test('what a page verifies webhooks with takes a real delivery, and no other', async (t) => {
  const secret = 'a secret of the documentation'
  const [typescript] = select(readPage('docs/api.md'), 'ts')
  const [python] = select(readPage('docs/api.md'), 'python')
  const delivered = await deliver(secret)
  const { headers, body } = delivered
  const file = join(checkout, 'verify.ts')
  writeFileSync(file, typescript?.text ?? '')
  const { isSigned } = (await import(pathToFileURL(file).href)) as {
    isSigned: (headers: object, body: Buffer, secret: string) => boolean
  }
  const forged = Buffer.concat([body, Buffer.from(' ')])
  t.equal(isSigned(headers, body, secret), true)
  t.equal(isSigned(headers, forged, secret), false)
  t.equal(isSigned(headers, body, 'another'), false)

  const asked = [body, forged].map((bytes) => ({ headers, body: bytes.toString('base64') }))
  const program = `${python?.text ?? ''}
import json, sys
for one in json.load(sys.stdin):
    print(is_signed(one["headers"], base64.b64decode(one["body"]), ${JSON.stringify(secret)}))
`
  const { stdout, stderr } = await run('python3', ['-c', program], JSON.stringify(asked))
  t.equal(stdout, 'True\nFalse\n', stderr)
})

async function deliver(secret: string): Promise<ReceivedRequest> {
  const webhook = { webhook_url: hook, webhook_secret: secret }
  await client.run({ language: 'python', code: 'print(1)', ...webhook })
  for (;;) {
    const [request] = receiver.requests
    if (request !== undefined) return request
    await sleep(50)
  }
}
