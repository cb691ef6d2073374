// The figures of a phase, what happens to what a program leaves behind, and how a run is abandoned.
import t from 'tap'
import type { Executor } from '#executor'
import {
  execute,
  findBoxProcesses,
  firstUid,
  patientLimits,
  run,
  scaleLimits,
  startExecutor,
  timeFactor,
} from '../../helper/executor.ts'
import type { TextPhase } from '../../helper/executor.ts'

const executor = await startExecutor(t)
let javaExecutor: Promise<Executor> | undefined
/** Java's executor starts with its first test, because javac then compiles our compiler. */
const findExecutor = async (language: 'python' | 'cpp' | 'java'): Promise<Executor> => {
  if (language !== 'java') return executor
  javaExecutor ??= startExecutor(t, { languages: ['java'], firstUid: firstUid + 6 })
  return javaExecutor
}

/** Programs for each figure. The bounds include what each language itself adds: the JVM takes 18 MiB and 40 ms before main. */
const figures = [
  {
    language: 'python',
    second: 'import time\nwhile time.process_time() < 1: pass',
    sleep: 'import time\ntime.sleep(0.5)',
    megabytes: 'b = bytearray(100 << 20)\nfor i in range(0, len(b), 64): b[i] = 1',
  },
  {
    language: 'cpp',
    second: '#include <ctime>\nint main() { while (clock() < CLOCKS_PER_SEC); }',
    sleep: '#include <unistd.h>\nint main() { usleep(500000); }',
    megabytes:
      '#include <cstdlib>\n#include <cstring>\nint main() { volatile char* p = static_cast<char*>(malloc(100 << 20)); for (int i = 0; i < 100 << 20; i += 64) p[i] = 1; return 0; }',
  },
  {
    language: 'java',
    second:
      'class Main { public static void main(String[] a) { var me = ProcessHandle.current(); while (me.info().totalCpuDuration().get().toMillis() < 1000); } }',
    sleep:
      'class Main { public static void main(String[] a) throws Exception { Thread.sleep(500); } }',
    megabytes:
      'class Main { public static void main(String[] a) { byte[] b = new byte[100 << 20]; for (int i = 0; i < b.length; i += 64) b[i] = 1; System.out.println(b.length); } }',
  },
] as const

/** Programs that do nothing. */
const nothing = {
  python: '',
  cpp: 'int main() {}',
  java: 'class Main { public static void main(String[] a) { } }',
} as const

/** Returns the CPU time that the start and the end of a program take on this machine. */
const measureFloor = async (language: keyof typeof nothing): Promise<number> =>
  (await run(await findExecutor(language), language, nothing[language])).usage.cpuSeconds

for (const { language, second, sleep, megabytes } of figures) {
  t.test(`a second of computing in ${language} is a second of CPU time`, async (t) => {
    const floor = await measureFloor(language)
    const { usage, ending } = await run(await findExecutor(language), language, second)
    t.equal(ending, 'exited')
    t.ok(
      usage.cpuSeconds > 0.9 && usage.cpuSeconds < 1.2 * Math.max(1, timeFactor / 4) + floor,
      `${usage.cpuSeconds}, ${floor} for nothing`,
    )
    // A JVM uses two cores at once.
    if (language !== 'java') t.ok(usage.wallSeconds >= usage.cpuSeconds - 0.05)
  })

  t.test(`half a second of sleep in ${language} is half a second of wall time`, async (t) => {
    const floor = await measureFloor(language)
    // Other load on the machine only adds to the wall time, and at most the time that passes here.
    const began = performance.now()
    const { usage } = await run(await findExecutor(language), language, sleep)
    const most = (performance.now() - began) / 1000
    t.ok(usage.wallSeconds >= 0.5 && usage.wallSeconds <= most, `${usage.wallSeconds} of ${most}`)
    t.ok(
      usage.cpuSeconds < 0.25 * timeFactor + 2 * floor,
      `${usage.cpuSeconds}, ${floor} for nothing`,
    )
  })

  t.test(`a hundred megabytes touched in ${language} are the peak`, async (t) => {
    const { usage, exitCode } = await run(await findExecutor(language), language, megabytes)
    t.equal(exitCode, 0)
    const peak = usage.memoryPeakBytes / (1 << 20)
    t.ok(peak >= 100 && peak <= 125, `${peak}`)
  })
}

t.test('times are given to the microsecond', async (t) => {
  const { usage } = await run(executor, 'python', 'sum(range(100_000))')
  for (const seconds of [usage.cpuSeconds, usage.wallSeconds]) {
    t.ok(seconds > 0)
    t.match(String(seconds), /^\d+(\.\d{1,6})?$/)
  }
})

t.test("CPU time is the program's: what carries its output away costs it nothing", async (t) => {
  const code = `#include <cstdio>
#include <ctime>
#include <unistd.h>
int main() {
  for (int i = 0; i < 1000000; i++) if (write(1, "x", 1) != 1) return 1;
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  fprintf(stderr, "%.9f", used.tv_sec + used.tv_nsec / 1e9);
}`
  const { usage, exitCode, stderr } = await run(executor, 'cpp', code)
  t.equal(exitCode, 0)
  const own = Number(stderr)
  t.ok(own > 0 && usage.cpuSeconds >= 0.95 * own, `${usage.cpuSeconds} s, ${own} by its own clock`)
  t.ok(usage.cpuSeconds <= 1.1 * own + 0.02, `${usage.cpuSeconds} s, ${own} by its own clock`)
})

t.test('CPU time of child processes counts', async (t) => {
  const code =
    'import os, time\nfor _ in range(2):\n  if os.fork() == 0:\n    while time.process_time() < 0.4: pass\n    os._exit(0)\nos.wait(); os.wait()'
  const { usage } = await run(executor, 'python', code)
  t.ok(usage.cpuSeconds > 0.75, `${usage.cpuSeconds}`)
})

t.test('the set-up of the box is not charged to the program', async (t) => {
  const code = `#include <cstdio>
#include <ctime>
int main() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("%.9f", used.tv_sec + used.tv_nsec / 1e9);
}`
  // Without what the program's own process has taken to start, which is more on a slow machine.
  const beyond = ({ usage, stdout }: TextPhase): number => usage.cpuSeconds - Number(stdout)
  // Other load on the machine only adds to the figure, so up to ten runs are made.
  let phase = await run(executor, 'cpp', code)
  for (let tries = 1; tries < 10 && beyond(phase) >= 0.02 * timeFactor; tries += 1)
    phase = await run(executor, 'cpp', code)
  const { usage, stdout } = phase
  t.ok(beyond(phase) < 0.02 * timeFactor, `${usage.cpuSeconds}, ${stdout} of its own`)
  t.ok(usage.memoryPeakBytes < 8 * (1 << 20), `${usage.memoryPeakBytes}`)
})

t.test(
  'what the main process leaves behind is killed, and its output until then counts',
  async (t) => {
    const code =
      'import os, time\nr, w = os.pipe()\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    print("child", flush=True)\n    os.write(w, b"x")\n    time.sleep(60)\n  os._exit(0)\nos.wait()\nos.read(r, 1)\nprint("parent")'
    const phase = await run(executor, 'python', code)
    t.match(phase, { ending: 'exited', exitCode: 0, stdout: 'child\nparent\n' })
    t.ok(phase.usage.wallSeconds < 30)
    t.same(findBoxProcesses(), [])
  },
)

t.test('a child that falls to the memory limit ends the whole run', async (t) => {
  const code =
    'import os, time\nif os.fork() == 0:\n  kept = []\n  while True: kept.append(bytearray(1 << 20))\nos.wait()\ntime.sleep(600)'
  const phase = await run(executor, 'python', code)
  t.equal(phase.ending, 'memory_limit')
  t.ok(phase.usage.wallSeconds < 100 * timeFactor, 'long before its wall limit')
})

t.test('files in memory count against the memory limit or fill their disk', async (t) => {
  const code =
    'import errno\ntry:\n  with open("/box/big", "wb") as f:\n    while True: f.write(b"x" * 65536)\nexcept OSError as e: print(errno.errorcode[e.errno])'
  t.match(await run(executor, 'python', code), { exitCode: 0, stdout: 'ENOSPC\n' })
})

t.test('a core dump is not written', async (t) => {
  const code = 'import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))'
  t.match(await run(executor, 'python', code), { stdout: '(0, 0)\n' })
})

/** Programs that print two of their limits. */
const printLimits = {
  python:
    'import re\nfor l in open("/proc/self/limits"):\n if l.startswith(("Max open files", "Max locked")): print(re.sub("  +", " ", l.strip("\\n")))',
  cpp: '#include <fstream>\n#include <iostream>\n#include <regex>\n#include <string>\nint main() { std::ifstream f("/proc/self/limits"); for (std::string l; std::getline(f, l);) if (l.starts_with("Max open files") || l.starts_with("Max locked")) std::cout << std::regex_replace(l, std::regex("  +"), " ") << "\\n"; }',
} as const

for (const language of ['python', 'cpp'] as const) {
  t.test(`the more processes ${language} may have, the fewer descriptors each`, async (t) => {
    for (const [processes, files, locked] of [
      [64, 1024, 65_536],
      [256, 512, 16_384],
      [1024, 256, 4096],
    ] as const) {
      const { compile, run: usual } = patientLimits[language]
      const limits = { compile, run: { ...usual, processes } }
      const code = printLimits[language]
      const { stdout } = await run(executor, language, code, '', { limits })
      const rows = stdout.trim().split(/ *\n */)
      t.same(rows.toSorted(), [
        `Max locked memory ${locked} ${locked} bytes`,
        `Max open files ${files} ${files} files`,
      ])
    }
  })
}

t.test('CPU time spent by several processes together passes the limit', async (t) => {
  const limits = scaleLimits({ cpuSeconds: 0.5, wallSeconds: 30 }).python
  const code = 'import os\nfor _ in range(4): os.fork()\nwhile True: pass'
  const { ending, usage } = await run(executor, 'python', code, '', { limits })
  t.equal(ending, 'cpu_limit')
  // The kernel's own limit allows each of the sixteen processes three seconds.
  t.ok(usage.cpuSeconds < 5 * timeFactor, `${usage.cpuSeconds}`)
})

t.test('a binary that nothing can start is its own failing end', async (t) => {
  for (const [interpreter, exitCode, stderr] of [
    ['/nonexistent/ld', 127, './main: No such file or directory\n'],
    ['/box', 126, './main: Permission denied\n'],
    // The kernel accepts no path of this length.
    ['x'.repeat(5000), 126, /^\.\/main: /],
  ] as const) {
    const more = { compileArguments: [`-Wl,--dynamic-linker=${interpreter}`] }
    const phase = await run(executor, 'cpp', 'int main() {}', '', more)
    t.match(phase, { ending: 'exited', exitCode, stderr })
  }
  t.equal(executor.slots, 2)
})

t.test('a run aborted at any moment leaves nothing', async (t) => {
  for (const delay of [...Array.from({ length: 12 }, (_, index) => 2 * index), 300]) {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('early')), delay)
    const { signal } = controller
    const running = execute(executor, 'python', 'import time\ntime.sleep(60)', '', { signal })
    await t.rejects(running, { message: 'early' })
  }
  t.same(findBoxProcesses(), [])
  t.equal(executor.slots, 2)
})
