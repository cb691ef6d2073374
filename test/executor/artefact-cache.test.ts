// The artefact cache alone: what it keeps, and that a damaged file is never run. blob-cache.test.ts tests what their common
// store forgets.
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Source } from '#contract'
import { createArtefactCache, hashSource } from '../../src/executor/artefact-cache.ts'
import type { CacheKey, Compiled } from '../../src/executor/artefact-cache.ts'
import { usualCompile } from '../../src/language/limits.ts'
import { makeDirectory } from '../helper/directory.ts'
import { describePhase } from '../helper/executor.ts'

const root = makeDirectory(t)
let directories = 0
const nextDirectory = (): string => join(root, String((directories += 1)))

const phase = describePhase({
  stderr: Buffer.from([0xff, 0x00, 0x41]),
  usage: { cpuSeconds: 0.5, wallSeconds: 1, memoryPeakBytes: 42 },
})
const make = (text: string, entry = 'Main'): Compiled => ({
  phase,
  artefact: { content: Buffer.from(text), entry },
})
const sourceOf = (text: string): Source => ({ code: Buffer.from(text), files: [], arguments: [] })
const always = (): boolean => true
const key = (text: string, owner = 'a'): CacheKey => ({
  owner,
  key: hashSource('cpp', 'options', sourceOf(text), usualCompile),
})
/** The file that holds a text's artefact. */
const locate = (directory: string, text: string): string =>
  join(
    directory,
    readdirSync(directory).find((name) => name.endsWith(key(text).key))!,
  )
const fail = (): Promise<Compiled> => Promise.reject(new Error('compiled again'))

t.test('what was compiled is found again, by another worker too', async (t) => {
  const directory = nextDirectory()
  const cache = createArtefactCache(directory, 1 << 20)
  const first = await cache.compile(key('a'), async () => make('binary'), always)
  t.equal(first.cached, false)
  for (const reader of [cache, createArtefactCache(directory, 1 << 20)]) {
    const { compiled, cached } = await reader.compile(key('a'), fail, always)
    t.equal(cached, true)
    t.same(Buffer.from(compiled.artefact!.content).toString(), 'binary')
    t.equal(compiled.artefact!.entry, 'Main')
    t.same(Buffer.from(compiled.phase.stderr), phase.stderr)
    t.same(compiled.phase.usage, phase.usage)
  }
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(locate(directory, 'a')).mode & 0o777, 0o400)
})

t.test('the last ones need no file, and without room there is none', async (t) => {
  const directory = nextDirectory()
  const compile = async (bytes: number): Promise<boolean> => {
    const cache = createArtefactCache(directory, bytes)
    for (let n = 0; n < 66; n += 1) await cache.compile(key(`${n}`), async () => make('x'), always)
    for (const name of readdirSync(directory)) rmSync(join(directory, name))
    await t.rejects(cache.compile(key('0'), fail, always), { message: 'compiled again' })
    return (await cache.compile(key('65'), async () => make('x'), always)).cached
  }
  t.equal(await compile(1 << 20), true)
  t.equal(await compile(0), false)
})

t.test('what is not certain is not kept', async (t) => {
  const cache = createArtefactCache(nextDirectory(), 1 << 20)
  await cache.compile(
    key('a'),
    async () => make('x'),
    () => false,
  )
  await t.rejects(cache.compile(key('a'), fail, always), { message: 'compiled again' })
})

t.test('a file that was cut short or changed is compiled anew', async (t) => {
  const directory = nextDirectory()
  const cache = createArtefactCache(directory, 1 << 20)
  await cache.compile(key('a'), async () => make('the binary'), always)
  const file = locate(directory, 'a')
  const bytes = readFileSync(file)
  for (const damaged of [
    bytes.subarray(0, -1),
    Buffer.concat([bytes, Buffer.from('!')]),
    Buffer.alloc(0),
    Buffer.from('{}\n'),
  ]) {
    rmSync(file, { force: true })
    writeFileSync(file, damaged)
    const reader = createArtefactCache(directory, 1 << 20)
    t.equal((await reader.compile(key('a'), async () => make('the binary'), always)).cached, false)
  }
})

t.test('one that is too large to be hashed in a moment is not kept', async (t) => {
  const cache = createArtefactCache(nextDirectory(), 1 << 28)
  await cache.compile(key('a'), async () => make('x'.repeat((8 << 20) + 1)), always)
  await t.rejects(cache.compile(key('a'), fail, always), { message: 'compiled again' })
  await cache.compile(key('b'), async () => make('x'.repeat(7 << 20)), always)
  t.equal((await cache.compile(key('b'), fail, always)).cached, true)
})

t.test('what one owner had compiled no other finds, on disk or under way', async (t) => {
  const directory = nextDirectory()
  const cache = createArtefactCache(directory, 1 << 20)
  const [own, other] = await Promise.all([
    cache.compile(key('a', 'a'), async () => make('his'), always),
    cache.compile(key('a', 'b'), async () => make('mine'), always),
  ])
  t.same([own.cached, other.cached], [false, false])
  for (const reader of [cache, createArtefactCache(directory, 1 << 20)]) {
    await t.rejects(reader.compile(key('a', 'c'), fail, always), { message: 'compiled again' })
    t.equal((await reader.compile(key('a', 'b'), fail, always)).cached, true)
  }
})

t.test('the same code at the same time compiles once', async (t) => {
  const cache = createArtefactCache(nextDirectory(), 1 << 20)
  let compilations = 0
  const compile = async (): Promise<Compiled> => {
    compilations += 1
    await new Promise((resolve) => setTimeout(resolve, 20))
    return make('x')
  }
  const results = await Promise.all([1, 2, 3].map(() => cache.compile(key('a'), compile, always)))
  t.equal(compilations, 1)
  t.same(
    results.map(({ cached }) => cached),
    [false, true, true],
  )
})

t.test('one that gives up does not take the others with it', async (t) => {
  const cache = createArtefactCache(nextDirectory(), 1 << 20)
  const first = cache.compile(
    key('a'),
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 10))
      throw new Error('aborted')
    },
    always,
  )
  const second = cache.compile(key('a'), async () => make('x'), always)
  await t.rejects(first, { message: 'aborted' })
  t.equal((await second).cached, false)
})

t.test('a directory that cannot be written costs no result', async (t) => {
  const directory = nextDirectory()
  const cache = createArtefactCache(directory, 1 << 20)
  rmSync(directory, { recursive: true })
  t.equal((await cache.compile(key('a'), async () => make('x'), always)).cached, false)
  mkdirSync(directory)
})

t.test('language, options, code, files, arguments and limits all decide the key', (t) => {
  const source = sourceOf('c')
  const withFiles = (...files: (readonly [string, string])[]): Source => ({
    ...source,
    files: files.map(([name, content]) => ({ name, content: Buffer.from(content) })),
  })
  const keys = [
    hashSource('cpp', 'o', source, usualCompile),
    hashSource('java', 'o', source, usualCompile),
    hashSource('cpp', 'p', source, usualCompile),
    hashSource('cpp', 'o', sourceOf('d'), usualCompile),
    hashSource('cpp', 'o', source, { ...usualCompile, diskBytes: 1 }),
    hashSource('cpp', 'o', { ...source, arguments: ['a', 'b'] }, usualCompile),
    hashSource('cpp', 'o', { ...source, arguments: ['a b'] }, usualCompile),
    hashSource('cpp', 'o', withFiles(['a', 'b']), usualCompile),
    hashSource('cpp', 'o', withFiles(['a', 'c']), usualCompile),
    hashSource('cpp', 'o', withFiles(['ab', '']), usualCompile),
    hashSource('cpp', 'o', withFiles(['a', ''], ['b', '']), usualCompile),
  ]
  t.equal(new Set(keys).size, keys.length)
  t.end()
})

t.test('who waited for one that was not certain waits for no other', async (t) => {
  const cache = createArtefactCache(nextDirectory(), 1 << 20)
  const ends = Array.from({ length: 3 }, () => Promise.withResolvers<Compiled>())
  let begun = 0
  const compile = (): ReturnType<typeof cache.compile> =>
    cache.compile(
      key('a'),
      () => ends[(begun += 1) - 1]!.promise,
      () => false,
    )
  const all = [compile(), compile(), compile()]
  while (begun === 0) await new Promise((resolve) => setImmediate(resolve))
  t.equal(begun, 1)
  ends[0]!.resolve(make('first'))
  await all[0]
  while (begun < 3) await new Promise((resolve) => setImmediate(resolve))
  t.equal(begun, 3, 'both at once')
  for (const end of ends) end.resolve(make('later'))
  t.match(
    await Promise.all(all),
    Array.from({ length: 3 }, () => ({ cached: false })),
  )
})
