// What a run promises: bytes in, bytes out, exit codes, compile errors, each ending and its figures.
// language/conformance.test.ts checks the same for each language.
import t from 'tap'
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
  exitSeven,
  forkBomb,
  hello,
  memoryBomb,
  outputFlood,
  sleeper,
} from '../helper/program.ts'

const limits = scaleLimits()
const roomy = await startExecutor(t, { languages: accelerated })
// One limit is tight and the other wide, because other load on the machine slows CPU time relative to wall time.
const littleCpu = await startExecutor(t, {
  limits: scaleLimits({ cpuSeconds: 0.6, wallSeconds: 30 }),
})
const littleWall = await startExecutor(t, {
  languages: accelerated,
  limits: scaleLimits({ cpuSeconds: 30, wallSeconds: 1.2 }),
})

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

// A language that a resident interpreter forks, and one that starts by itself.
for (const language of ['python', 'cpp'] as const) {
  t.test(`${language} says hello`, async (t) => {
    const outcome = await execute(roomy, language, hello[language])
    t.match(outcome.run, {
      ending: 'exited',
      exitCode: 0,
      signal: null,
      stdout: 'hello\n',
      stderr: '',
      stdoutTruncated: false,
      stderrTruncated: false,
    })
    t.equal(outcome.compile === null, language === 'python')
  })

  t.test(`${language} input and output keep every byte`, async (t) => {
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
      Buffer.from([0xc3, 0x28, 0xff, 0xfe, 0, 0, 0xed, 0xa0, 0x80]),
      Buffer.alloc(65_000, 'x'),
    ])
    const outcome = await roomy.execute({
      language,
      code: Buffer.from(copy[language]),
      stdin: bytes,
      cacheScope,
    })
    t.equal(Buffer.compare(Buffer.from(outcome.run!.stdout), bytes), 0)
  })

  t.test(`${language} outputs are apart and the exit code is the program's`, async (t) => {
    t.match(await run(roomy, language, exitSeven[language]), {
      ending: 'exited',
      exitCode: 7,
      signal: null,
      stdout: 'out',
      stderr: 'err',
    })
  })

  t.test(
    `${language} that computes for ever passes the CPU limit and keeps its output`,
    async (t) => {
      const isWithin = ({ usage }: TextPhase): boolean => usage.cpuSeconds < 0.75 * timeFactor
      const phase = await runWithin(isWithin, littleCpu, language, busyLoop[language])
      t.match(phase, { ending: 'cpu_limit', exitCode: 137, signal: 'SIGKILL', stdout: 'before\n' })
      t.ok(phase.usage.cpuSeconds > 0.6 * timeFactor, `${phase.usage.cpuSeconds}`)
      t.ok(isWithin(phase), `${phase.usage.cpuSeconds}`)
    },
  )

  t.test(`${language} that sleeps passes the wall limit and keeps its output`, async (t) => {
    // The time in which it got no processor does not count towards the limit.
    const isWithin = ({ usage, stdout }: TextPhase): boolean =>
      usage.wallSeconds - (usage.delaySeconds ?? 0) < 1.5 * timeFactor && stdout !== ''
    const phase = await runWithin(isWithin, littleWall, language, sleeper[language])
    t.match(phase, { ending: 'wall_limit', exitCode: 137, signal: 'SIGKILL', stdout: 'before\n' })
    t.ok(isWithin(phase), JSON.stringify(phase.usage))
  })

  t.test(`${language} that takes all memory passes the memory limit`, async (t) => {
    const phase = await run(roomy, language, memoryBomb[language])
    t.equal(phase.ending, 'memory_limit', phase.stderr)
    t.ok(phase.usage.memoryPeakBytes <= limits[language].run.memoryBytes)
  })

  t.test(`${language} that floods its output is stopped at the limit`, async (t) => {
    const phase = await run(roomy, language, outputFlood[language])
    t.match(phase, { ending: 'output_limit', stdoutTruncated: true, stderrTruncated: false })
    t.equal(phase.stdout.length, limits[language].run.stdoutBytes)
  })

  t.test(`${language} need not read its input`, async (t) => {
    const outcome = await execute(roomy, language, hello[language], Buffer.alloc(65_536, 'x'))
    t.match(outcome.run, { ending: 'exited', exitCode: 0, stdout: 'hello\n' })
  })
}

for (const language of accelerated) {
  t.test(`${language} recurses 100,000 deep`, async (t) => {
    t.match(await run(roomy, language, deepRecursion[language]), {
      ending: 'exited',
      exitCode: 0,
      stdout: '100000\n',
    })
  })

  t.test(`${language} fork bomb ends within its limits`, async (t) => {
    const phase = await run(littleWall, language, forkBomb[language])
    // A JVM complains of each thread that it cannot start, in more bytes than it may write.
    t.match(phase.ending, /^(cpu_limit|wall_limit|memory_limit|output_limit)$/)
    t.ok(phase.usage.wallSeconds < 25 * timeFactor)
  })
}

t.test('a compile error runs nothing and keeps the messages', async (t) => {
  for (const language of ['cpp', 'java'] as const) {
    const outcome = await execute(roomy, language, 'this is not a program')
    t.equal(outcome.run, null)
    t.match(outcome.compile, { ending: 'exited', exitCode: 1, stdout: '', stderr: /error/ })
  }
})

t.test("a Python syntax error is the run's own end", async (t) => {
  t.match(await run(roomy, 'python', 'print('), { exitCode: 1, stderr: /SyntaxError/ })
})

t.test('a signal is named', async (t) => {
  t.match(await run(roomy, 'cpp', '#include <csignal>\nint main() { raise(SIGSEGV); }'), {
    ending: 'signaled',
    exitCode: 139,
    signal: 'SIGSEGV',
  })
  t.match(await run(roomy, 'python', 'import os\nos.kill(os.getpid(), 9)'), {
    ending: 'signaled',
    exitCode: 137,
    signal: 'SIGKILL',
  })
})

t.test('an exit code that is no signal stays one', async (t) => {
  t.match(await run(roomy, 'python', 'import sys\nsys.exit(255)'), {
    ending: 'exited',
    exitCode: 255,
    signal: null,
  })
})

t.test('stderr has a limit of its own', async (t) => {
  const phase = await run(roomy, 'python', 'import sys\nwhile True: sys.stderr.write("e" * 4096)')
  t.match(phase, { ending: 'output_limit', stdoutTruncated: false, stderrTruncated: true })
  t.equal(phase.stderr.length, limits.python.run.stderrBytes)
})

t.test('output of exactly the limit is within it', async (t) => {
  const phase = await run(roomy, 'python', 'print("x" * (1024 * 1024), end="")')
  t.match(phase, { ending: 'exited', stdoutTruncated: false })
  t.equal(phase.stdout.length, 1024 * 1024)
})

t.test('a million short lines arrive whole', async (t) => {
  const executor = await startExecutor(t, {
    limits: scaleLimits({ stdoutBytes: 16 * 1024 * 1024 }),
  })
  const phase = await run(
    executor,
    'cpp',
    '#include <cstdio>\n#include <unistd.h>\nint main() { for (int i = 0; i < 1000000; i++) printf("%d\\n", i); }',
  )
  t.equal(phase.stdout.split('\n').length, 1_000_001)
  t.ok(phase.stdout.endsWith('999999\n'))
})

t.test('a program may close its output early', async (t) => {
  t.match(
    await run(
      roomy,
      'python',
      'import os, sys\nprint("one", flush=True)\nos.close(1)\nos.close(2)\nos._exit(3)',
    ),
    { ending: 'exited', exitCode: 3, stdout: 'one\n' },
  )
})

t.test('/dev/stdin, /dev/stdout and /dev/stderr can be opened', async (t) => {
  t.match(
    await run(
      roomy,
      'python',
      'open("/dev/stdout", "w").write(open("/dev/stdin").read())\nopen("/dev/stderr", "w").write("e")',
      'text',
    ),
    { exitCode: 0, stdout: 'text', stderr: 'e' },
  )
})

t.test('code may hold NUL bytes and be empty', async (t) => {
  t.match(await run(roomy, 'python', ''), { ending: 'exited', exitCode: 0 })
  t.match(
    await run(roomy, 'cpp', '#include <cstdio>\nint main() { printf("%zu", sizeof "a\0b"); }'),
    { stdout: '4' },
  )
  t.equal((await execute(roomy, 'cpp', '')).run, null)
})

t.test('threads and child processes within the limit are allowed', async (t) => {
  t.match(
    await run(
      roomy,
      'python',
      'import subprocess, threading\nthreads = [threading.Thread(target=lambda: None) for _ in range(30)]\n[x.start() for x in threads]\n[x.join() for x in threads]\nprint(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout, end="")',
    ),
    { exitCode: 0, stdout: 'child\n' },
  )
})

t.test('a program may have exactly as many processes as its limit says', async (t) => {
  const executor = await startExecutor(t, { limits: scaleLimits({ processes: 8 }) })
  const code =
    'import os, time\nn = 1\ntry:\n  while n < 100:\n    if os.fork() == 0: time.sleep(60)\n    n += 1\nexcept BlockingIOError: pass\nprint(n)'
  t.match(await run(executor, 'python', code), { exitCode: 0, stdout: '8\n' })
})

t.test('the same code compiles once', async (t) => {
  const code = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n + 1); }'
  const first = await execute(roomy, 'cpp', code, '1')
  const second = await execute(roomy, 'cpp', code, '2')
  t.match(first, { compileCached: false, run: { stdout: '2\n' } })
  t.match(second, { compileCached: true, run: { stdout: '3\n' } })
  t.same(second.compile!.usage, first.compile!.usage)
})

t.test('runtimes name exact versions', (t) => {
  t.match(roomy.runtimes, {
    python: { version: /^Python 3\.\d+\.\d+/, compile: null },
    cpp: { version: /^GCC \d+\.\d+\.\d+$/ },
    java: { version: /^OpenJDK \d+/ },
  })
  t.end()
})
