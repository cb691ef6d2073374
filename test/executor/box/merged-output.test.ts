// A program whose stderr is its stdout: one output in the order of writing, under one limit, however the program is started.
import t from 'tap'
import type { Language } from '#language'
import { execute, patientLimits, startExecutor } from '../../helper/executor.ts'
import type { More, TextOutcome } from '../../helper/executor.ts'
import { findOne } from './keeper/prestarted/compare.ts'

/** Programs that write 300 numbers, alternately to stdout and stderr. */
const programs = {
  python:
    'import sys\nfor n in range(300): print(n, file=(sys.stdout, sys.stderr)[n % 2], flush=True)',
  c: '#include <stdio.h>\nint main(void) { for (int n = 0; n < 300; n += 1) { fprintf(n % 2 ? stderr : stdout, "%d\\n", n); fflush(stdout); } }',
  cpp: '#include <iostream>\nint main() { for (int n = 0; n < 300; ++n) (n % 2 ? std::cerr : std::cout) << n << std::endl; }',
  javascript:
    'for (let n = 0; n < 300; n += 1) (n % 2 ? process.stderr : process.stdout).write(`${n}\\n`)',
  java: 'class Main { public static void main(String[] a) { for (int n = 0; n < 300; n++) { var out = n % 2 == 1 ? System.err : System.out; out.println(n); out.flush(); } } }',
} as const satisfies Partial<Record<Language, string>>
const languages = Object.keys(programs) as (keyof typeof programs)[]
/** Processes of prestarted runtimes, by the kernel's names. */
const waiting: Partial<Record<Language, RegExp>> = {
  javascript: /^(node|MainThread)$/,
  java: /^(java|main)$/,
}
const numbers = Array.from({ length: 300 }, (_, n) => `${n}\n`)
const even = numbers.filter((_, n) => n % 2 === 0).join('')
const odd = numbers.filter((_, n) => n % 2 === 1).join('')

const executor = await startExecutor(t, {
  languages,
  slots: 1,
  accelerators: ['fork-server', 'prestart'],
})
const merge = (language: Language, code: string, more: More = {}): Promise<TextOutcome> =>
  execute(executor, language, code, '', { mergesStderr: true, ...more })

for (const language of languages)
  t.test(`${language}: the order is the program's`, async (t) => {
    const code = programs[language]
    for (let round = 0; round < 3; round += 1) {
      const name = waiting[language]
      if (name !== undefined) await findOne(name)
      const { run } = await merge(language, code)
      t.match(run, { ending: 'exited', exitCode: 0, stderr: '', stderrTruncated: false })
      t.equal(run?.stdout, numbers.join(''))
    }
    const { run } = await execute(executor, language, code)
    t.match(run, { stdout: even, stderr: odd }, 'the next one has two outputs')
  })

t.test('what a program that cannot start says is in stdout', async (t) => {
  const { run } = await merge('python', 'syntax error')
  t.match(run, { exitCode: 1, stdout: /SyntaxError/, stderr: '' })
})

t.test('what its children write, and what it writes by the names of its outputs', async (t) => {
  const code = `
import os, subprocess
for n in range(0, 40, 4):
  print(n, flush=True)
  subprocess.run(['sh', '-c', f'echo {n + 1} >&2; echo {n + 2}; echo {n + 3} > /dev/stderr'])
os.write(1, b'%d\\n' % (os.fstat(1).st_ino == os.fstat(2).st_ino))`
  const { run } = await merge('python', code)
  t.match(run, { stdout: `${numbers.slice(0, 40).join('')}1\n`, stderr: '' })
})

t.test("stdout's limit is that of both, stderr's is none", async (t) => {
  const both = 'import os\nfor n in range(500): os.write(1 + n % 2, b"x" * 10)'
  const limitTo = (stdoutBytes: number, stderrBytes: number) => ({
    limits: { compile: null, run: { ...patientLimits.python.run, stdoutBytes, stderrBytes } },
  })
  const within = await merge('python', both, limitTo(5000, 1))
  t.match(within.run, { ending: 'exited', stdoutTruncated: false })
  t.equal(within.run?.stdout.length, 5000)
  const beyond = await merge('python', both, limitTo(4999, 5000))
  t.match(beyond.run, { ending: 'output_limit', stdoutTruncated: true, stderr: '' })
  t.equal(beyond.run?.stdout.length, 4999)
})

t.test('a runtime that says it ran out of memory is heard there', async (t) => {
  const code = 'const all = []; for (;;) all.push(new Array(10_000).fill(all.length))'
  const { run } = await merge('javascript', code)
  t.match(run, { ending: 'memory_limit', stderr: '' })
})

t.test("a compiler's messages are its own, and are kept as ever", async (t) => {
  const wrong = await merge('cpp', 'int main( {')
  t.match(wrong, { compile: { exitCode: 1, stdout: '', stderr: /error/ }, run: null })
})

t.test('each of several runs, and what is heard before the end', async (t) => {
  const heard: string[] = []
  const runs: string[] = []
  await merge('python', programs.python, {
    runs: {
      inputs: [{ stdin: new Uint8Array() }, { stdin: new Uint8Array() }],
      onRun: ({ stdout, stderr }) => {
        runs.push(Buffer.from(stdout).toString() + Buffer.from(stderr).toString('hex'))
        return true
      },
    },
  })
  t.strictSame(runs, [numbers.join(''), numbers.join('')])
  const stop = new AbortController()
  let read = (): void => {}
  // Only the abort below ends the program. If its output did not arrive, the test would run into its time limit.
  const { run } = await merge(
    'python',
    'import os, time\nos.write(2, b"one\\n"); os.write(1, b"two\\n")\ntime.sleep(100)',
    {
      stop: stop.signal,
      limits: { compile: null, run: patientLimits.python.run },
      live: {
        compiled: () => {},
        tap: {
          open(source) {
            read = () => {
              const text = source.read('stdout', 0, 1000).toString()
              heard.push(text, source.read('stderr', 0, 1000).toString())
              if (text === 'one\ntwo\n') stop.abort()
            }
          },
          note: () => read(),
          close: () => {},
        },
      },
    },
  )
  t.match(run, { ending: 'cancelled', stdout: 'one\ntwo\n', stderr: '' })
  t.ok(heard.includes('one\ntwo\n'))
})
