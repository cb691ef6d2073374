// What a run promises: bytes in, bytes out, exit codes, compile errors, each ending and its figures.
// language/conformance.test.ts checks the same for each language.
import t from 'tap'
import type { Language } from '#language'
import {
  accelerated,
  cacheScope,
  execute,
  run,
  scaleLimits,
  startExecutor,
  timeFactor,
} from '../helper/executor.ts'
import type { TextPhase } from '../helper/executor.ts'
import {
  busyLoop,
  copy,
  deepRecursion,
  hello,
  memoryBomb,
  outputFlood,
  sleeper,
} from '../helper/program.ts'

const limits = scaleLimits()
// One limit is tight and the other wide, because other load on the machine slows CPU time relative to wall time.
const littleCpu = scaleLimits({ cpuSeconds: 0.6, wallSeconds: 30 })
const littleWall = scaleLimits({ cpuSeconds: 30, wallSeconds: 1.2 })
const executor = await startExecutor(t, { languages: accelerated })

/**
 * Repeats a run until it is within its bound, five times at most, because other load on the machine only adds to a time.
 * Returns the last run.
 */
async function runWithin(
  isWithin: (phase: TextPhase) => boolean,
  ...asked: Parameters<typeof run>
): Promise<TextPhase> {
  let phase = await run(...asked)
  for (let tries = 1; tries < 5 && !isWithin(phase); tries += 1) phase = await run(...asked)
  return phase
}

const saysHello = {
  ending: 'exited',
  exitCode: 0,
  signal: null,
  stdout: 'hello\n',
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
}

// A language that a resident interpreter forks, and one that starts by itself.
for (const language of ['python', 'cpp'] as const) {
  t.test(`${language} says hello, and need not read its input`, async (t) => {
    const outcome = await execute(executor, language, hello[language])
    t.match(outcome.run, saysHello)
    t.equal(outcome.compile === null, language === 'python')
    t.match(await run(executor, language, hello[language], Buffer.alloc(65_536, 'x')), saysHello)
  })

  t.test(`${language} input and output keep every byte`, async (t) => {
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
      Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0, 0, 0xed, 0xa0, 0x80]),
      Buffer.alloc(65_000, 'x'),
    ])
    const request = { language, code: Buffer.from(copy[language]), stdin: bytes, cacheScope }
    const outcome = await executor.execute(request)
    t.equal(Buffer.compare(Buffer.from(outcome.run!.stdout), bytes), 0)
  })

  t.test(
    `${language} that computes for ever passes the CPU limit and keeps its output`,
    async (t) => {
      const isWithin = ({ usage }: TextPhase): boolean => usage.cpuSeconds < 0.75 * timeFactor
      const more = { limits: littleCpu[language] }
      const phase = await runWithin(isWithin, executor, language, busyLoop[language], '', more)
      t.match(phase, { ending: 'cpu_limit', exitCode: 137, signal: 'SIGKILL', stdout: 'before\n' })
      t.ok(phase.usage.cpuSeconds > 0.6 * timeFactor, `${phase.usage.cpuSeconds}`)
      t.ok(isWithin(phase), `${phase.usage.cpuSeconds}`)
    },
  )

  t.test(`${language} that sleeps passes the wall limit and keeps its output`, async (t) => {
    // The time in which it got no processor does not count towards the limit.
    const isWithin = ({ usage, stdout }: TextPhase): boolean =>
      usage.wallSeconds - (usage.delaySeconds ?? 0) < 1.5 * timeFactor && stdout !== ''
    const more = { limits: littleWall[language] }
    const phase = await runWithin(isWithin, executor, language, sleeper[language], '', more)
    t.match(phase, { ending: 'wall_limit', exitCode: 137, signal: 'SIGKILL', stdout: 'before\n' })
    t.ok(isWithin(phase), JSON.stringify(phase.usage))
  })

  t.test(`${language} that takes all memory passes the memory limit`, async (t) => {
    const phase = await run(executor, language, memoryBomb[language])
    t.equal(phase.ending, 'memory_limit', phase.stderr)
    t.ok(phase.usage.memoryPeakBytes <= limits[language].run.memoryBytes)
  })

  t.test(`${language} that floods its output is stopped at the limit`, async (t) => {
    const phase = await run(executor, language, outputFlood[language])
    t.match(phase, { ending: 'output_limit', stdoutTruncated: true, stderrTruncated: false })
    t.equal(phase.stdout.length, limits[language].run.stdoutBytes)
  })
}

for (const language of accelerated) {
  t.test(`${language} recurses 100,000 deep`, async (t) => {
    const phase = await run(executor, language, deepRecursion[language])
    t.match(phase, { ending: 'exited', exitCode: 0, stdout: '100000\n' })
  })
}

t.test('a compile error runs nothing and keeps the messages', async (t) => {
  for (const language of ['cpp', 'java'] as const) {
    const outcome = await execute(executor, language, 'this is not a program')
    t.equal(outcome.run, null)
    t.match(outcome.compile, { ending: 'exited', exitCode: 1, stdout: '', stderr: /error/ })
  }
})

const ends: readonly (readonly [name: string, Language, code: string, expected: object, stdin?: string])[] = [
  ["a Python syntax error is the run's own end", 'python', 'print(', { exitCode: 1, stderr: /SyntaxError/ }],
  ['a signal is named', 'cpp', '#include <csignal>\nint main() { raise(SIGSEGV); }',
    { ending: 'signaled', exitCode: 139, signal: 'SIGSEGV' }],
  ['a kill is named', 'python', 'import os\nos.kill(os.getpid(), 9)',
    { ending: 'signaled', exitCode: 137, signal: 'SIGKILL' }],
  ['an exit code that is no signal stays one', 'python', 'import sys\nsys.exit(255)',
    { ending: 'exited', exitCode: 255, signal: null }],
  ['a program may close its output early', 'python', 'import os, sys\nprint("one", flush=True)\nos.close(1)\nos.close(2)\nos._exit(3)',
    { ending: 'exited', exitCode: 3, stdout: 'one\n' }],
  ['/dev/stdin, /dev/stdout and /dev/stderr can be opened', 'python',
    'open("/dev/stdout", "w").write(open("/dev/stdin").read())\nopen("/dev/stderr", "w").write("e")',
    { exitCode: 0, stdout: 'text', stderr: 'e' }, 'text'],
  ['code may be empty', 'python', '', { ending: 'exited', exitCode: 0 }],
  ['code may hold NUL bytes', 'cpp', '#include <cstdio>\nint main() { printf("%zu", sizeof "a\0b"); }', { stdout: '4' }],
  ['threads and child processes within the limit are allowed', 'python',
    'import subprocess, threading\nthreads = [threading.Thread(target=lambda: None) for _ in range(30)]\n[x.start() for x in threads]\n[x.join() for x in threads]\nprint(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout, end="")',
    { exitCode: 0, stdout: 'child\n' }],
] // prettier-ignore
for (const [name, language, code, expected, stdin] of ends)
  t.test(name, async (t) => t.match(await run(executor, language, code, stdin), expected))

t.test('stderr has a limit of its own', async (t) => {
  const code = 'import sys\nwhile True: sys.stderr.write("e" * 4096)'
  const phase = await run(executor, 'python', code)
  t.match(phase, { ending: 'output_limit', stdoutTruncated: false, stderrTruncated: true })
  t.equal(phase.stderr.length, limits.python.run.stderrBytes)
})

t.test('output of exactly the limit is within it', async (t) => {
  const phase = await run(executor, 'python', 'print("x" * (1024 * 1024), end="")')
  t.match(phase, { ending: 'exited', stdoutTruncated: false })
  t.equal(phase.stdout.length, 1024 * 1024)
})

t.test('a million short lines arrive whole', async (t) => {
  const code =
    '#include <cstdio>\n#include <unistd.h>\nint main() { for (int i = 0; i < 1000000; i++) printf("%d\\n", i); }'
  const more = { limits: scaleLimits({ stdoutBytes: 16 * 1024 * 1024 }).cpp }
  const { stdout } = await run(executor, 'cpp', code, '', more)
  t.equal(stdout.split('\n').length, 1_000_001)
  t.ok(stdout.endsWith('999999\n'))
})

t.test('a program may have exactly as many processes as its limit says', async (t) => {
  const code =
    'import os, time\nn = 1\ntry:\n  while n < 100:\n    if os.fork() == 0: time.sleep(60)\n    n += 1\nexcept BlockingIOError: pass\nprint(n)'
  const more = { limits: scaleLimits({ processes: 8 }).python }
  t.match(await run(executor, 'python', code, '', more), { exitCode: 0, stdout: '8\n' })
})

t.test('the same code compiles once', async (t) => {
  const code = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n + 1); }'
  const first = await execute(executor, 'cpp', code, '1')
  const second = await execute(executor, 'cpp', code, '2')
  t.match(first, { compileCached: false, run: { stdout: '2\n' } })
  t.match(second, { compileCached: true, run: { stdout: '3\n' } })
  t.same(second.compile!.usage, first.compile!.usage)
})

t.test('endless messages are stopped and the first 64 KiB kept', async (t) => {
  const code = '#error a line of words that the compiler repeats\n'.repeat(1300)
  const outcome = await execute(executor, 'cpp', code)
  t.equal(outcome.run, null)
  t.equal(outcome.compile!.stderr.length, 64 * 1024)
  t.equal(outcome.compile!.stderrTruncated, true)
})

t.test('a compile error is remembered', async (t) => {
  const first = await execute(executor, 'cpp', 'int main() { return nothing; }')
  const second = await execute(executor, 'cpp', 'int main() { return nothing; }')
  t.equal(first.compileCached, false)
  t.equal(second.compileCached, true)
  t.equal(second.compile!.stderr, first.compile!.stderr)
})

t.test('runtimes name exact versions', (t) => {
  t.match(executor.runtimes, {
    python: { version: /^Python 3\.\d+\.\d+/, compile: null },
    cpp: { version: /^GCC \d+\.\d+\.\d+$/ },
    java: { version: /^OpenJDK \d+/ },
  })
  t.end()
})
