// The keeping of precompiled headers alone, with the real compiler: when a header is made, when it is made again, what is
// left over.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeLayout } from '../../../../src/executor/box/keeper/host-root.ts'
import { startKeeper } from '../../../../src/executor/box/keeper/keeper-process.ts'
import { keepPrecompiledHeaders } from '../../../../src/executor/toolchain/cpp/precompiled-header.ts'
import type { PrecompiledHeaders } from '../../../../src/executor/toolchain/cpp/precompiled-header.ts'
import { openLaunches, request } from '../../box/keeper/lone-keeper.ts'
import { makeDirectory } from '../../../helper/directory.ts'

const compilation = { program: '/usr/bin/g++', options: ['-O2', '-std=gnu++20'], identity: 'this' }
// The header that compiles fastest.
const header = 'deque'

interface Keeper extends PrecompiledHeaders {
  /** Whether this precompiled header may be used. */
  has(header: string): boolean
  /** Resolves when nothing is being made. */
  settled(): Promise<void>
  readonly closing: AbortController
}

function open(
  directory: string,
  identity = compilation.identity,
  wanted: readonly string[] = [header],
): Keeper {
  const closing = new AbortController()
  const works: Promise<void>[] = []
  const track = (work: Promise<void>): void => void works.push(work)
  const workshop = { directory, signal: closing.signal, track }
  const headers = keepPrecompiledHeaders(workshop, { ...compilation, identity }, wanted)
  const settled = async (): Promise<void> => void (await Promise.all(works))
  const has = (name: string): boolean => headers.listReady().has(name)
  return { ...headers, has, settled, closing }
}

/** The host directory of the header's own files. */
function locate(directory: string): string {
  return join(locateAll(directory), header)
}

/** The host directory of all headers. */
function locateAll(directory: string): string {
  const [own = ''] = readdirSync(directory)
  return join(directory, own)
}

async function make(directory: string): Promise<string> {
  await open(directory).settled()
  return locate(directory)
}

t.test('a header is made when a worker starts, and found from then on', async (t) => {
  const directory = makeDirectory(t, 0o711)
  const keeper = open(directory)
  t.notOk(keeper.has(header))
  await keeper.settled()
  const path = locate(directory)
  t.strictSame(keeper.path, { source: join(path, '..'), target: '/precompiled' })
  t.ok(keeper.has(header))
  t.strictSame([...keeper.listReady()], [[header, `/precompiled/${header}/include`]])
  t.strictSame(readdirSync(path).toSorted(), ['include', 'record.json'])
  t.strictSame(readdirSync(join(path, 'include')), [`${header}.gch`], 'and GCC sees nothing else')
  t.equal(statSync(join(path, 'include', `${header}.gch`)).mode & 0o777, 0o444)
  t.equal(statSync(path).mode & 0o777, 0o711)
  t.strictSame(readdirSync(join(path, '..')), [header], 'and nothing is left over')
})

t.test('one that is not whole, or whose headers have changed, is made anew', async (t) => {
  const rewrite = (path: string, change: object): void => {
    const file = join(path, 'record.json')
    const record: object = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...record, ...change }))
  }
  const damages: Readonly<Record<string, (path: string) => void>> = {
    'cut short': (path) => truncateSync(join(path, 'include', `${header}.gch`), 4096),
    'of other bytes': (path) => {
      const file = join(path, 'include', `${header}.gch`)
      chmodSync(file, 0o600)
      writeFileSync(file, readFileSync(file).fill(1, 5000, 5001))
    },
    'without its file': (path) => rmSync(join(path, 'include', `${header}.gch`)),
    'without its record': (path) => rmSync(join(path, 'record.json')),
    'with an empty record': (path) => writeFileSync(join(path, 'record.json'), ''),
    'made of other headers': (path) => rewrite(path, { content: 'other' }),
    'made of a header that is gone': (path) => rewrite(path, { sources: ['/usr/include/none'] }),
  }
  const directory = makeDirectory(t, 0o711)
  const path = await make(directory)
  for (const [name, damage] of Object.entries(damages)) {
    damage(path)
    const keeper = open(directory)
    t.notOk(keeper.has(header), `${name}: not used`)
    await keeper.settled()
    t.ok(keeper.has(header), `${name}: made anew`)
  }
})

t.test('workers that make the same at once all have it, once', async (t) => {
  const directory = makeDirectory(t, 0o711)
  const keepers = [open(directory), open(directory)]
  await Promise.all(keepers.map((keeper) => keeper.settled()))
  for (const keeper of keepers) t.ok(keeper.has(header))
  t.strictSame(readdirSync(locateAll(directory)), [header])
})

t.test('the end of the worker ends the compiler, and nothing unfinished stays', async (t) => {
  const directory = makeDirectory(t, 0o711)
  const keeper = open(directory, undefined, ['bits/stdc++.h', 'iostream'])
  const own = locateAll(directory)
  while (!readdirSync(own).some((name) => name.startsWith('.'))) {
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  keeper.closing.abort()
  await keeper.settled()
  t.strictSame(readdirSync(own), [])
  t.notOk(keeper.has('bits/stdc++.h'))
})

t.test(
  "a compiler's headers go when none has opened them for thirty days; its directory stays",
  async (t) => {
    const directory = makeDirectory(t, 0o711)
    const path = await make(directory)
    const own = join(path, '..')
    await open(directory, 'that', []).settled()
    t.ok(existsSync(path), 'younger ones stay')
    const monthAgo = Date.now() / 1000 - 31 * 86_400
    utimesSync(own, monthAgo, monthAgo)
    await open(directory, 'that', []).settled()
    t.strictSame(readdirSync(own), [])
  },
)

t.test('what a killed worker left unfinished goes after a day', async (t) => {
  const directory = makeDirectory(t, 0o711)
  const own = join(await make(directory), '..')
  const [young, old] = [join(own, '.young'), join(own, '.old')]
  for (const path of [young, old]) mkdirSync(path)
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
  utimesSync(old, twoDaysAgo, twoDaysAgo)
  await open(directory).settled()
  t.strictSame(readdirSync(own).toSorted(), ['.young', header])
})

t.test(
  "a directory that programs' users cannot get to is shown in boxes all the same",
  { skip: process.getuid?.() !== 0 && 'an unprivileged worker is their user' },
  async (t) => {
    const directory = makeDirectory(t, 0o711)
    chmodSync(directory, 0o700)
    const headers = open(join(directory, 'cache'))
    await headers.settled()
    const launch = await (await openLaunches(t))('unreachable')
    const layout = encodeLayout([headers.path])
    const keeper = await startKeeper({ ...launch, layout })
    t.teardown(() => keeper.close())
    launch.group.closeDescriptors()
    const path = `${headers.listReady().get(header)}/${header}.gch`
    const read = await keeper.run(request(['/usr/bin/head', '--bytes=4', path]))
    t.equal(read.stdout.bytes.toString(), 'gpch')
  },
)
