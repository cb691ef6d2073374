// Precompiled headers change nothing but time: what plain g++ on the command line accepts, refuses and says, a
// submission's compiler does, byte for byte, and the same binary comes out. Its own file because it compiles much.
import t from 'tap'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArtefactCache, hashSource } from '../../../src/executor/artefact-cache.ts'
import { findCpp } from '../../../src/executor/language/cpp.ts'
import { execute, startExecutor } from '../../helper/executor.ts'
import { examples } from './cpp-example.ts'

const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
chmodSync(directory, 0o711)
t.teardown(() => rmSync(directory, { recursive: true }))
const cacheDirectory = join(directory, 'cache')
const options = { cacheDirectory, cacheBytes: 256 * 1024 * 1024 }
const executor = await startExecutor(t, options)
t.setTimeout(600_000)

const minimal = (header: string): string => `#include <${header}>\nint main() {}\n`
const includes = [...examples.values()].map(
  (code) => /^#include <([\w/.+]+)>\n/.exec(code.toString())?.[1],
)
const headers = [...new Set(includes.filter((header) => header !== undefined))]

/** The directory of this compiler's precompiled headers. */
function findOwn(): string {
  const shared = join(cacheDirectory, 'precompiled-header')
  return join(shared, readdirSync(shared)[0]!)
}

interface Compilation {
  readonly exitCode: number | null
  readonly stderr: string
  /** SHA-256 of the binary; null when there is none. */
  readonly binary: string | null
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
/** GCC names its temporary object at random. */
const nameTemporaries = (text: string): string => text.replace(/\/tmp\/cc\w{6}\b/g, '/tmp/cc')

/** As much of the messages as a submission's record keeps. */
const messageBytes = 64 * 1024
let compilations = 0
/** What the command line that users are told does outside; the assembler can be made to write to stdout. */
async function compilePlainly(code: Uint8Array): Promise<Compilation> {
  const at = join(directory, String((compilations += 1)))
  mkdirSync(at)
  writeFileSync(join(at, 'main.cpp'), code)
  const command = executor.runtimes.cpp.compile ?? []
  const child = spawn('/bin/sh', ['-c', 'exec "$@" 1>&2', 'sh', ...command], {
    cwd: at,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const chunks: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const binary = exitCode === 0 ? hash(readFileSync(join(at, 'main'))) : null
  rmSync(at, { recursive: true })
  const stderr = Buffer.concat(chunks).subarray(0, messageBytes)
  return { exitCode, stderr: nameTemporaries(stderr.toString()), binary }
}

const { compiler } = await findCpp({
  directory: join(directory, 'unused'),
  signal: new AbortController().signal,
  track: () => {},
})

/** What the executor made of it: read from the cache, which keeps what the box gave out. */
async function compileInBox(code: Uint8Array): Promise<Compilation> {
  const outcome = await execute(executor, 'cpp', code)
  const key = hashSource('cpp', compiler!.identity, code)
  const cache = createArtefactCache(join(cacheDirectory, 'artefact'), options.cacheBytes)
  const missing = (): never => {
    throw new Error('not in the cache')
  }
  const { compiled } = await cache.compile(key, missing, () => true)
  const { artefact, phase } = compiled
  return {
    exitCode: outcome.compile!.exitCode,
    stderr: nameTemporaries(Buffer.from(phase.stderr).toString()),
    binary: artefact && hash(artefact.content),
  }
}

t.test(
  'a header that a program begins with is precompiled beside the runs, and then used',
  async (t) => {
    const plain = new Map<string, number>()
    for (const header of headers) {
      const { compile } = await execute(executor, 'cpp', minimal(header))
      plain.set(header, compile!.usage.memoryPeakBytes)
    }
    await executor.settled()
    const made = readdirSync(findOwn())
    t.ok(made.includes('iostream') && made.includes('bits_stdc++.h'), made.join(' '))
    t.notOk(made.includes('cstdlib'), 'what takes no time is not kept')
    for (const header of ['iostream', 'bits/stdc++.h']) {
      const { compile } = await execute(executor, 'cpp', `${minimal(header)}// again\n`)
      t.ok(compile!.usage.memoryPeakBytes < plain.get(header)! * 0.7, `${header} is not parsed`)
    }
  },
)

t.test('the compiler accepts, refuses, says and makes the same as without', async (t) => {
  t.ok(examples.size >= 150, `${examples.size} sources`)
  const waiting = [...examples]
  const verdicts: string[] = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, code] = next
      const bytes = Buffer.from(code)
      const plain = await compilePlainly(bytes)
      t.strictSame(await compileInBox(bytes), plain, name)
      verdicts.push(`${plain.exitCode} ${plain.stderr === '' ? 'silent' : 'talking'}`)
    }
  }
  await Promise.all([work(), work()])
  for (const kind of ['0 silent', '0 talking', '1 talking']) {
    t.ok(verdicts.filter((verdict) => verdict === kind).length >= 20, `enough that end ${kind}`)
  }
})
