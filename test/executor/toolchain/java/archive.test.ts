// The keeping of one archive of classes, with the real JVM: when an archive is made, when it is made again, what is left
// over, and that the JVM works without an archive that another JVM made.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { defaultSettings } from '#language'
import { ordinaryToolHost } from '#toolchain'
import { keepClassArchive } from '../../../../src/executor/toolchain/java/archive.ts'
import type { ClassArchive } from '../../../../src/executor/toolchain/java/archive.ts'
import { findHome } from '../../../../src/executor/toolchain/java/home.ts'
import { makeDirectory } from '../../../helper/directory.ts'

const home = await findHome(ordinaryToolHost, defaultSettings.JAVA_HOME)
const text = 'class Main { public static void main(String[] a) { System.out.println(42); } }\n'

interface Keeper {
  readonly archive: ClassArchive
  readonly settled: Promise<unknown>
}

const compiled = makeDirectory(t)
writeFileSync(join(compiled, 'Main.java'), text)
execFileSync(`${home}/bin/javac`, ['Main.java'], { cwd: compiled })
const pack = ['--create', '--file', 'main.jar', '--main-class', 'Main', 'Main.class']
execFileSync(`${home}/bin/jar`, pack, { cwd: compiled })

/** Makes a directory with a program's jar, and functions that keep its archive. */
function prepare(t: Test) {
  const directory = makeDirectory(t, 0o711)
  const [jars, kept] = [join(directory, 'jars'), join(directory, 'kept')]
  mkdirSync(jars)
  copyFileSync(join(compiled, 'main.jar'), join(jars, 'main.jar'))
  // With the options of boxes, warnings go to stderr.
  const java = [`${home}/bin/java`, '-Xlog:disable', '-Xlog:all=warning:stderr']
  const run = ['-cp', `${jars}/main.jar`, 'Main']
  const open = (
    identity = 'this',
    program = java,
    signal = new AbortController().signal,
  ): Keeper => {
    const works: Promise<void>[] = []
    const archive = keepClassArchive(
      { directory: kept, signal, track: (work) => void works.push(work) },
      {
        command: (options) => ({ argv: [...program, ...options, ...run], environment: {} }),
        source: { name: 'source', content: 'none' },
        identity,
        paths: [jars],
      },
    )
    return { archive, settled: Promise.all(works) }
  }
  /** Runs the program with the archive's options, in which the box's path is replaced by the host's. */
  const start = (archive: ClassArchive) => {
    const options = archive.options().map((word) => word.replace('/class-archive/', `${kept}/`))
    const [program = '', ...words] = [...java, ...options, '-Xlog:class+load=info', ...run]
    const { stdout, stderr, status } = spawnSync(program, words, { encoding: 'utf8' })
    return { shared: /^.*\bMain source: shared.*$/m.test(stdout), stdout, stderr, status }
  }
  /** Lists archives and unfinished files. */
  const list = (): string[] =>
    globSync('*/*/*.jsa', { cwd: kept }).concat(globSync('*/.*', { cwd: kept }))
  return { open, start, list, jars, kept }
}

t.test('an archive is made at the start, then used, and found by the next worker', async (t) => {
  const { open, start, list, kept } = prepare(t)
  const first = open()
  t.strictSame(first.archive.options(), [], 'none while there is none')
  t.notOk(start(first.archive).shared)
  await first.settled
  t.equal(start(first.archive).shared, true)
  const [made = '', ...more] = list()
  t.strictSame(more, [], 'nothing is left over')
  t.equal(statSync(join(kept, made)).mode & 0o777, 0o444)
  const before = statSync(join(kept, made)).ino
  const second = open()
  await second.settled
  t.strictSame(second.archive.options(), first.archive.options())
  t.equal(statSync(join(kept, made)).ino, before, 'it is not made again')
})

t.test('another jar makes another archive', async (t) => {
  const { open, start, list, jars } = prepare(t)
  const first = open()
  await first.settled
  utimesSync(join(jars, 'main.jar'), 1, 1)
  const meanwhile = start(first.archive)
  t.match(meanwhile, { shared: false, status: 0, stderr: '' }, 'until then it is not used')
  t.match(meanwhile.stdout, /^42$/m)
  const second = open()
  await second.settled
  t.equal(start(second.archive).shared, true)
  t.equal(list().length, 2)
})

t.test('an archive of another JVM is not used, and nothing is said of it', async (t) => {
  const { open, start, list, kept } = prepare(t)
  const keeper = open()
  await keeper.settled
  const path = join(kept, list()[0] ?? '')
  const bytes = readFileSync(path)
  // The JVM's name is in the header.
  const at = bytes.indexOf('OpenJDK')
  t.ok(at > 0 && at < 4096)
  bytes.write('NewerJV', at)
  chmodSync(path, 0o600)
  writeFileSync(path, bytes)
  const other = start(keeper.archive)
  t.match(other, { shared: false, status: 0, stderr: '' })
  t.match(other.stdout, /^42$/m)
})

t.test('a JVM that fails, or writes none, leaves nothing', async (t) => {
  const { open, list } = prepare(t)
  for (const program of [['/bin/false'], ['/bin/true'], ['/nonexistent']]) {
    const keeper = open('this', program)
    await keeper.settled
    t.strictSame(keeper.archive.options(), [])
    t.strictSame(list(), [])
  }
  const keeper = open('this', ['/bin/sh', '-c', 'exec sleep 1000', 'sh'], AbortSignal.timeout(200))
  await keeper.settled
  t.strictSame(list(), [], 'nor one that is stopped')
})
