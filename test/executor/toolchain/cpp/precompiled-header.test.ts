// The keeping of precompiled headers alone, with the real compiler: what makes one, what makes it anew, what is left over.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { keepPrecompiledHeaders } from '../../../../src/executor/toolchain/cpp/precompiled-header.ts'
import type { PrecompiledHeaders } from '../../../../src/executor/toolchain/cpp/precompiled-header.ts'

t.setTimeout(300_000)

const compilation = { program: '/usr/bin/g++', options: ['-O2', '-std=gnu++20'], identity: 'this' }
// The one that takes the compiler least.
const header = 'deque'

interface Keeper extends PrecompiledHeaders {
  /** Whether this one may be used. */
  has(header: string): boolean
  /** Resolves when nothing is being made. */
  settled(): Promise<void>
  readonly closing: AbortController
}

async function open(
  directory: string,
  identity = compilation.identity,
  wanted: readonly string[] = [header],
): Promise<Keeper> {
  const closing = new AbortController()
  const works: Promise<void>[] = []
  const track = (work: Promise<void>): void => void works.push(work)
  const workshop = { directory, signal: closing.signal, track }
  const headers = await keepPrecompiledHeaders(workshop, { ...compilation, identity }, wanted)
  const settled = async (): Promise<void> => void (await Promise.all(works))
  const has = (name: string): boolean => headers.choose(name, () => false) !== null
  return { ...headers, has, settled, closing }
}

function makeDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
  chmodSync(directory, 0o711)
  t.teardown(() => rmSync(directory, { recursive: true }))
  return directory
}

/** Where the header's own files are on the host. */
function locate(directory: string): string {
  return join(locateAll(directory), header)
}

/** Where all are. */
function locateAll(directory: string): string {
  const [own = ''] = readdirSync(directory)
  return join(directory, own)
}

/** Beside the headers. */
const programs = ['driver', 'library.so']

async function make(directory: string): Promise<string> {
  await (await open(directory)).settled()
  return locate(directory)
}

t.test('a header is made when a worker starts, and found from then on', async (t) => {
  const directory = makeDirectory(t)
  const keeper = await open(directory)
  t.notOk(keeper.has(header))
  await keeper.settled()
  const path = locate(directory)
  t.strictSame(keeper.path, { source: join(path, '..'), target: '/precompiled' })
  t.ok(keeper.has(header))
  t.ok(keeper.quick.includes(`/precompiled/${header}/include`))
  const [adds, addsNot] = [() => true, () => false]
  t.strictSame(keeper.choose(header, addsNot), keeper.quick)
  t.equal(keeper.choose(header, adds), null, 'what adds to namespace std is compiled without')
  for (const other of [null, 'vector']) t.equal(keeper.choose(other, addsNot), null)
  t.strictSame(readdirSync(path).toSorted(), ['include', 'record.json', 'written-pages'])
  t.strictSame(readdirSync(join(path, 'include')), [`${header}.gch`], 'and GCC sees nothing else')
  t.equal(statSync(join(path, 'include', `${header}.gch`)).mode & 0o777, 0o444)
  t.equal(statSync(path).mode & 0o777, 0o711)
  t.strictSame(readdirSync(join(path, '..')).toSorted(), [header, ...programs], 'and nothing is left over') // prettier-ignore
  for (const name of programs) t.equal(statSync(join(path, '..', name)).mode & 0o777, 0o555)
})

t.test('a later worker finds it from its start, and does not make it again', async (t) => {
  const directory = makeDirectory(t)
  const path = await make(directory)
  const made = statSync(join(path, 'include', `${header}.gch`)).ino
  const later = await open(directory)
  await later.settled()
  t.ok(later.has(header))
  t.equal(statSync(join(path, 'include', `${header}.gch`)).ino, made)
})

t.test('one that is not whole, or whose headers have changed, is made anew', async (t) => {
  const damages: Readonly<Record<string, (path: string) => void>> = {
    'cut short': (path) => truncateSync(join(path, 'include', `${header}.gch`), 4096),
    'without its file': (path) => rmSync(join(path, 'include', `${header}.gch`)),
    'without its record': (path) => rmSync(join(path, 'record.json')),
    'with an empty record': (path) => writeFileSync(join(path, 'record.json'), ''),
    'with fewer pages': (path) => truncateSync(join(path, 'written-pages'), 8),
    'without its pages': (path) => rmSync(join(path, 'written-pages')),
    'made of other headers': (path) => {
      const file = join(path, 'record.json')
      const record: object = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...record, content: 'other' }))
    },
    'made of a header that is gone': (path) => {
      const file = join(path, 'record.json')
      const record: object = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...record, sources: ['/usr/include/no-such'] }))
    },
  }
  const directory = makeDirectory(t)
  const path = await make(directory)
  for (const [name, damage] of Object.entries(damages)) {
    damage(path)
    const keeper = await open(directory)
    t.notOk(keeper.has(header), `${name}: not used`)
    await keeper.settled()
    t.ok(keeper.has(header), `${name}: made anew`)
  }
})

/** Maps a file as GCC maps a precompiled header, writes to some pages, and prints which are then its own. */
const mapper = `
import ctypes, os, struct, sys
size, base, libc = os.sysconf('SC_PAGESIZE'), 0x1000000000, ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = os.open(sys.argv[1], os.O_RDONLY)
words = (ctypes.c_void_p(base), ctypes.c_size_t(8 * size), 3, 2, file, ctypes.c_long(0))
assert libc.mmap(*words) == base
for page in sys.argv[2:]: ctypes.memset(base + int(page) * size, 1, 1)
with open('/proc/self/pagemap', 'rb', 0) as pagemap:
    pagemap.seek(base // size * 8)
    entries = struct.unpack('8Q', pagemap.read(64))
print(*(page for page, entry in enumerate(entries) if entry >> 63 and not entry >> 61 & 1))
`

t.test('the pages that one compilation writes to are copied at once for the next', async (t) => {
  const directory = makeDirectory(t)
  const library = join(await make(directory), '..', 'library.so')
  const [file, pages] = [join(directory, 'file'), join(directory, 'pages')]
  writeFileSync(file, Buffer.alloc(8 * 65_536, 1))
  const map = (written: readonly number[], environment: Readonly<Record<string, string>>): string =>
    execFileSync('/usr/bin/python3', ['-c', mapper, file, ...written.map(String)], {
      env: environment,
      encoding: 'utf8',
    }).trim()
  const environment = { LD_PRELOAD: library, WRITTEN_PAGES: pages }
  t.equal(map([1, 2, 5], environment), '1 2 5')
  const list = readFileSync(pages)
  t.strictSame([...new BigUint64Array(new Uint8Array(list.subarray(0, 24)).buffer)], [0x1000000000n, 8n * 4096n, 0n]) // prettier-ignore
  t.strictSame([...new Uint32Array(new Uint8Array(list.subarray(24)).buffer)], [1, 2, 5, 1])
  t.equal(map([7], environment), '1 2 5 7')
  t.strictSame(readFileSync(pages), list, 'and the list stays as it is')
  t.equal(map([7], {}), '7')
})

t.test('workers that make the same at once all have it, once', async (t) => {
  const directory = makeDirectory(t)
  const keepers = await Promise.all([open(directory), open(directory)])
  await Promise.all(keepers.map((keeper) => keeper.settled()))
  for (const keeper of keepers) t.ok(keeper.has(header))
  t.strictSame(readdirSync(locateAll(directory)).toSorted(), [header, ...programs])
})

t.test('the end of the worker ends the compiler, and nothing unfinished stays', async (t) => {
  const directory = makeDirectory(t)
  const keeper = await open(directory, undefined, ['bits/stdc++.h', 'iostream'])
  const own = locateAll(directory)
  while (!readdirSync(own).some((name) => name.startsWith('.'))) {
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  keeper.closing.abort()
  await keeper.settled()
  t.strictSame(readdirSync(own).toSorted(), programs)
  t.notOk(keeper.has('bits/stdc++.h'))
})

t.test('to look for a header makes none', async (t) => {
  const directory = makeDirectory(t)
  const keeper = await open(directory, undefined, [])
  for (const name of [
    'stdio.h',
    'iostream',
    'no_such_header',
    '../deque',
    'deque.gch',
    '__proto__',
    '',
  ]) {
    t.notOk(keeper.has(name))
  }
  await keeper.settled()
  t.strictSame(readdirSync(locateAll(directory)).toSorted(), programs)
})

t.test('another compiler or other options have headers of their own', async (t) => {
  const directory = makeDirectory(t)
  await make(directory)
  const other = await open(directory, 'that', [])
  await other.settled()
  t.notOk(other.has(header))
  other.closing.abort()
  await other.settled()
})

t.test(
  "a compiler's headers go when none has opened them for thirty days; its directory stays",
  async (t) => {
    const directory = makeDirectory(t)
    const path = await make(directory)
    const own = join(path, '..')
    await (await open(directory, 'that', [])).settled()
    t.ok(existsSync(path), 'younger ones stay')
    const monthAgo = Date.now() / 1000 - 31 * 86_400
    utimesSync(own, monthAgo, monthAgo)
    await (await open(directory, 'that', [])).settled()
    t.strictSame(readdirSync(own), [])
  },
)

t.test('what a killed worker left unfinished goes after a day', async (t) => {
  const directory = makeDirectory(t)
  const own = join(await make(directory), '..')
  const [young, old] = [join(own, '.young'), join(own, '.old')]
  for (const path of [young, old]) mkdirSync(path)
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
  utimesSync(old, twoDaysAgo, twoDaysAgo)
  await (await open(directory)).settled()
  t.strictSame(readdirSync(own).toSorted(), ['.young', header, ...programs])
})

t.test(
  "a directory that programs' users cannot get to is not used",
  { skip: process.getuid?.() !== 0 && 'an unprivileged worker is their user' },
  async (t) => {
    const directory = makeDirectory(t)
    chmodSync(directory, 0o700)
    const keeper = await open(join(directory, 'cache'))
    t.equal(keeper.path, null)
    t.notOk(keeper.has(header))
    await keeper.settled()
    t.notOk(keeper.has(header))
    t.strictSame(readdirSync(locateAll(join(directory, 'cache'))), [])
  },
)
