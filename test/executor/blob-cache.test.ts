// The blob cache alone: what it fetches, keeps and forgets, and that it trusts no file.
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createBlobCache } from '#executor'
import type { BlobCache } from '#executor'
import { makeDirectory } from '../helper/directory.ts'
import { failsAt } from '../helper/executor.ts'

const root = makeDirectory(t)
let directories = 0
const nextDirectory = (): string => join(root, String((directories += 1)))
const nameOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Opens a cache that can fetch these blobs. `fetched` lists what the cache has fetched. */
function open(
  blobs: readonly Uint8Array[],
  { directory = nextDirectory(), capacityBytes = 1 << 20 } = {},
): { cache: BlobCache; fetched: string[]; directory: string } {
  const fetched: string[] = []
  const cache = createBlobCache({
    directory,
    capacityBytes,
    async *fetch(owner, name) {
      fetched.push(`${owner} ${name}`)
      const bytes = blobs.find((one) => nameOf(one) === name)
      if (bytes === undefined) return
      yield bytes.subarray(0, 10)
      yield bytes.subarray(10)
    },
  })
  return { cache, fetched, directory }
}

t.test('a blob is fetched once, and read from there by the next worker too', async (t) => {
  const bytes = randomBytes(1000)
  const name = nameOf(bytes)
  const { cache, fetched, directory } = open([bytes])
  t.strictSame(await cache.read('a', name), { bytes, cached: false })
  t.strictSame(await cache.read('a', name), { bytes, cached: true })
  t.equal(fetched.length, 1)
  const next = open([bytes], { directory })
  t.strictSame(await next.cache.read('a', name), { bytes, cached: true })
  t.equal(next.fetched.length, 0)
  t.equal(statSync(directory).mode & 0o777, 0o700)
})

t.test('two that want it at once have it fetched once', async (t) => {
  const bytes = randomBytes(1000)
  const { cache, fetched } = open([bytes])
  const both = await Promise.all([cache.read('a', nameOf(bytes)), cache.read('a', nameOf(bytes))])
  t.strictSame(both.map((one) => one.bytes), [bytes, bytes]) // prettier-ignore
  t.equal(fetched.length, 1)
})

t.test('an account finds no blob of another one, on disk or under way', async (t) => {
  const bytes = randomBytes(1000)
  const name = nameOf(bytes)
  const { cache, fetched } = open([bytes])
  const both = await Promise.all([cache.read('a', name), cache.read('b', name)])
  t.strictSame(both.map(({ cached }) => cached), [false, false]) // prettier-ignore
  t.equal((await cache.read('c', name)).cached, false)
  t.strictSame(fetched, [`a ${name}`, `b ${name}`, `c ${name}`])
})

t.test('the empty one is a blob, one that is gone is our failure', async (t) => {
  const empty = Buffer.alloc(0)
  const { cache } = open([empty])
  t.equal((await cache.read('a', nameOf(empty))).bytes.length, 0)
  await t.rejects(cache.read('a', nameOf(randomBytes(9))), failsAt('blob.read', /is gone/))
})

t.test('bytes that are not their name’s are neither given out nor kept', async (t) => {
  const directory = nextDirectory()
  const cache = createBlobCache({
    directory,
    capacityBytes: 1 << 20,
    async *fetch() {
      yield Buffer.from('something else')
    },
  })
  const name = nameOf(Buffer.from('what was sent'))
  await t.rejects(cache.read('a', name), failsAt('blob.read', /do not match its name/))
  t.strictSame(readdirSync(directory), [])
})

t.test('a file that a crash has damaged is fetched again', async (t) => {
  const bytes = randomBytes(1000)
  const name = nameOf(bytes)
  const { cache, directory } = open([bytes])
  await cache.read('a', name)
  const [file = ''] = readdirSync(directory)
  for (const damaged of [Buffer.alloc(1000), bytes.subarray(1)]) {
    rmSync(join(directory, file))
    writeFileSync(join(directory, file), damaged)
    const next = open([bytes], { directory })
    t.strictSame(await next.cache.read('a', name), { bytes, cached: false })
  }
})

t.test('when it is full, the least recently used of who has most goes', async (t) => {
  const blobs = Array.from({ length: 6 }, () => randomBytes(8000))
  const { cache, directory, fetched } = open(blobs, { capacityBytes: 40_960 })
  for (const bytes of blobs.slice(0, 4)) await cache.read('a', nameOf(bytes))
  await cache.read('b', nameOf(blobs[4]!))
  await cache.read('a', nameOf(blobs[0]!))
  await cache.read('a', nameOf(blobs[5]!))
  t.equal(readdirSync(directory).length, 5)
  fetched.length = 0
  for (const index of [0, 2, 3, 5]) await cache.read('a', nameOf(blobs[index]!))
  await cache.read('b', nameOf(blobs[4]!))
  t.strictSame(fetched, [])
  await cache.read('a', nameOf(blobs[1]!))
  t.equal(fetched.length, 1)
})

t.test('tiny ones count a block each, so that their number is bounded', async (t) => {
  const blobs = Array.from({ length: 20 }, () => randomBytes(8))
  const { cache, directory } = open(blobs, { capacityBytes: 40_960 })
  for (const bytes of blobs) await cache.read('a', nameOf(bytes))
  t.equal(readdirSync(directory).length, 10)
  open(blobs, { directory, capacityBytes: 20_480 })
  t.equal(readdirSync(directory).length, 5, 'for a cache that was opened with less room')
})

t.test(
  'what is too large for it, and anything for one of no size, is fetched each time',
  async (t) => {
    const bytes = randomBytes(1000)
    for (const capacityBytes of [0, 3999]) {
      const { cache, fetched } = open([bytes], { capacityBytes })
      for (const _ of [1, 2]) t.strictSame((await cache.read('a', nameOf(bytes))).bytes, bytes)
      t.equal(fetched.length, 2)
    }
  },
)

t.test('what nobody used for so long is forgotten', async (t) => {
  const [old, young] = [randomBytes(1000), randomBytes(1000)]
  const { cache, directory, fetched } = open([old, young])
  for (const bytes of [old, young]) await cache.read('a', nameOf(bytes))
  const file = readdirSync(directory).find((name) => name.endsWith(nameOf(old))) ?? ''
  const hourAgo = new Date(Date.now() - 3_600_000)
  utimesSync(join(directory, file), hourAgo, hourAgo)
  cache.forgetUnused(1_800_000)
  t.strictSame(readdirSync(directory).map((name) => name.slice(33)), [nameOf(young)]) // prettier-ignore
  await cache.read('a', nameOf(old))
  t.equal(fetched.length, 3)
})

t.test('who is stopped waits no longer, and others still get it', async (t) => {
  const bytes = randomBytes(1000)
  const { promise: door, resolve: open } = Promise.withResolvers<void>()
  const cache = createBlobCache({
    directory: nextDirectory(),
    capacityBytes: 1 << 20,
    async *fetch() {
      await door
      yield bytes
    },
  })
  const stop = new AbortController()
  const stopped = cache.read('a', nameOf(bytes), stop.signal)
  const patient = cache.read('a', nameOf(bytes))
  stop.abort(new Error('stopped'))
  await t.rejects(stopped, { message: 'stopped' })
  open()
  t.strictSame((await patient).bytes, bytes)
})
