// Output files of a run: which of the requested names come back, and which never do.
import t from 'tap'
import type { Executor } from '#executor'
import { defaultLimits } from '#language'
import { execute, run, scaleLimits, startExecutor } from '../helper/executor.ts'
import type { TextPhase } from '../helper/executor.ts'

const mebibyte = 1024 * 1024

/** With forks as well, because forks of the resident interpreter leave output files, too. */
for (const accelerators of [[], ['fork-server']] as const) {
  t.test(accelerators.join() || 'without accelerators', async (t) => {
    const limits = scaleLimits({ wallSeconds: 60 })
    const executor = await startExecutor(t, { slots: 1, languages: ['python'], accelerators, limits }) // prettier-ignore
    const leave = (code: string, outputFiles: readonly string[]): Promise<TextPhase> =>
      run(executor, 'python', code, '', { outputFiles })
    /** Runs a program, and returns the names of its output files with their contents as text. */
    const left = async (
      code: string,
      names: readonly string[],
    ): Promise<Record<string, string | null>> => {
      const { exitCode, stderr, outputFiles = [] } = await leave(code, names)
      if (exitCode !== 0) throw new Error(stderr)
      return Object.fromEntries(
        outputFiles.map(({ name, content }) => [
          name,
          content && Buffer.from(content).toString('latin1'),
        ]),
      )
    }

    t.test('what it wrote comes back, byte for byte, in the order of the request', async (t) => {
      const code = `
import os
os.makedirs('a/b/c')
open('a/b/c/deep.txt', 'w').write('deep')
open('bytes', 'wb').write(bytes(range(256)))
open('empty', 'w')
open('unasked', 'w').write('x')`
      const names = ['empty', 'missing', 'bytes', 'a/b/c/deep.txt']
      t.strictSame((await leave(code, names)).outputFiles, [
        { name: 'empty', size: 0, content: Buffer.alloc(0) },
        { name: 'bytes', size: 256, content: Buffer.from(Array.from({ length: 256 }, (_, n) => n)) }, // prettier-ignore
        { name: 'a/b/c/deep.txt', size: 4, content: Buffer.from('deep') },
      ])
    })

    t.test('nothing asked for, nothing told', async (t) => {
      const phase = await run(executor, 'python', 'open("x", "w").write("x")')
      t.equal(phase.outputFiles, undefined)
    })

    t.test('no link is followed, in any part of a name', async (t) => {
      const code = `
import os
os.symlink('/etc/passwd', 'absolute')
os.symlink('../../../../etc/passwd', 'relative')
os.symlink('/etc', 'directory')
os.symlink('inside', 'own')
open('inside', 'w').write('inside')
os.symlink('/proc/self/environ', 'magic')
os.symlink('.', 'here')
os.mkdir('real')
open('real/file', 'w').write('real')
os.link('real/file', 'hard')`
      const names = ['absolute', 'relative', 'directory/passwd', 'own', 'magic', 'here/inside', 'inside', 'real/file', 'hard'] // prettier-ignore
      t.strictSame(await left(code, names), { inside: 'inside', 'real/file': 'real', hard: 'real' })
    })

    t.test('what is no file is left out, and nothing is waited for', async (t) => {
      const code = `
import os, socket
os.mkdir('directory')
open('plain', 'w').write('x')
made = [
  lambda: os.mkfifo('pipe'),
  lambda: socket.socket(socket.AF_UNIX).bind('socket'),
  lambda: os.mknod('device', 0o20666, os.makedev(1, 5)),
]
for make in made:
  try: make()
  except OSError: pass  # the filter forbids some of it`
      const names = ['pipe', 'directory', 'socket', 'device', 'plain/below', 'plain']
      t.strictSame(await left(code, names), { plain: 'x' })
    })

    t.test('a mebibyte in all has its content; what does not fit is told without', async (t) => {
      const code = (...sizes: number[]): string =>
        sizes.map((size, n) => `open('${n}', 'wb').write(b'x' * ${size})`).join('\n')
      const told = async (...sizes: number[]): Promise<unknown> =>
        (await leave(code(...sizes), ['0', '1', '2'])).outputFiles?.map(({ size, content }) => [
          size,
          content?.length ?? null,
        ])
      t.strictSame(await told(mebibyte, 0), [[mebibyte, mebibyte], [0, 0]]) // prettier-ignore
      t.strictSame(await told(mebibyte + 1, 5), [[mebibyte + 1, null], [5, 5]]) // prettier-ignore
      t.strictSame(await told(mebibyte - 2, 3, 2), [[mebibyte - 2, mebibyte - 2], [3, null], [2, 2]]) // prettier-ignore
    })

    t.test('a huge file of holes costs nothing', async (t) => {
      const size = defaultLimits.python.run.diskBytes - 4096
      const code = `
import os
os.truncate(os.open('huge', os.O_CREAT | os.O_WRONLY), ${size})
os.truncate(os.open('holes', os.O_CREAT | os.O_WRONLY), 100_000)`
      t.strictSame((await leave(code, ['huge', 'holes'])).outputFiles, [
        { name: 'huge', size, content: null },
        { name: 'holes', size: 100_000, content: Buffer.alloc(100_000) },
      ])
    })

    t.test('the mode of a file counts for nothing, nor that of its directory', async (t) => {
      const code = `
import os
os.makedirs('shut/in')
open('shut/in/x', 'w').write('x')
os.chmod('shut/in/x', 0)
os.chmod('shut/in', 0)
os.chmod('shut', 0)
os.chmod('.', 0)`
      t.strictSame(await left(code, ['shut/in/x']), { 'shut/in/x': 'x' })
    })

    t.test('the program’s own files are none that it left', async (t) => {
      const code = `
import os
print(os.listdir('.'))
open('own.txt', 'w').write('x')`
      t.strictSame(await left(code, ['main.py', 'own.txt']), { 'own.txt': 'x' })
    })

    t.test('what a process left behind has written until then counts, and no more', async (t) => {
      const code = `
import os, time
if os.fork() == 0:
    with open('out', 'w') as out:
        while True:
            out.write('x' * 4096)
            out.flush()
while not os.path.exists('out') or os.path.getsize('out') == 0: time.sleep(0.001)
os._exit(0)`
      const [file] = (await leave(code, ['out'])).outputFiles ?? []
      t.ok((file?.size ?? 0) > 0)
      t.ok(file?.content === null || file?.content.length === file?.size)
    })

    t.test('however it ended, what it had left by then comes back', async (t) => {
      const ends: [string, string][] = [
        ['while True: pass', 'cpu_limit'],
        ['import os; os.kill(os.getpid(), 11)', 'signaled'],
        ['raise SystemExit(3)', 'exited'],
        ['while True: print("x" * 65536)', 'output_limit'],
        ['kept = []\nwhile True: kept.append(bytearray(1 << 20))', 'memory_limit'],
      ]
      for (const [end, ending] of ends) {
        const code = `open('out', 'w').write('so far')\n${end}`
        const phase = await ended(executor, code, undefined, ending === 'cpu_limit' ? 1 : 60)
        t.match(phase, { ending, outputFiles: [{ name: 'out', content: Buffer.from('so far') }] })
      }
      // Stops later each time, until the program has started.
      for (let milliseconds = 100; ; milliseconds *= 2) {
        const stop = AbortSignal.timeout(milliseconds)
        const code = `import time\nopen('out', 'w').write('so far')\ntime.sleep(50)`
        const phase = await ended(executor, code, stop)
        if ((phase?.outputFiles ?? []).length === 0 && milliseconds < 20_000) continue
        t.match(phase, { ending: 'cancelled', outputFiles: [{ name: 'out' }] })
        break
      }
    })

    t.test('a full disk and a full memory do not hinder', async (t) => {
      const code = `
open('out', 'w').write('first')
try:
    with open('fill', 'wb') as fill:
        while True: fill.write(b'x' * 65536)
except OSError: pass`
      const phase = await ended(executor, code)
      t.match(phase, { outputFiles: [{ name: 'out', content: Buffer.from('first') }] })
      const next = await ended(executor, 'print(1)')
      t.match(next, { exitCode: 0, outputFiles: [] }, 'nothing is left for the next')
    })
  })
}

/** Runs a program with the output file `out`. @returns its phase; null when it did not begin. */
async function ended(
  executor: Executor,
  code: string,
  stop?: AbortSignal,
  cpuSeconds = 60,
): Promise<TextPhase | null> {
  const limits = scaleLimits({ cpuSeconds, wallSeconds: 60, memoryBytes: 96 * mebibyte }).python
  const more = { limits, outputFiles: ['out'], stop }
  return (await execute(executor, 'python', code, '', more)).run
}
