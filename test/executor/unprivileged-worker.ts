// A worker that unprivileged.test.ts starts under another uid. Prints the results of its boxes as one JSON object.
import { createExecutor } from '#executor'
import { accelerated, patientLimits, run, scaleLimits } from '../helper/executor.ts'
import { busyLoop, hello, memoryBomb } from '../helper/program.ts'
import { waitForResident } from './toolchain/java/comparison.ts'

// A test runner that runs every file of this folder starts this one without a directory.
const directory = process.argv[2]
if (directory === undefined) process.exit(0)
const executor = await createExecutor({
  slots: 2,
  firstUid: 0,
  limits: patientLimits,
  cacheBytes: 1 << 24,
  languages: accelerated,
  proves: false,
  cacheDirectory: `${directory}/cache`,
  accelerators: ['fork-server', 'resident-compiler'],
})
const greetings = await Promise.all(
  accelerated.map((language) => run(executor, language, hello[language])),
)
await executor.settled()
// Ends only when a resident has compiled a source.
await waitForResident(executor)
const memory = await run(executor, 'cpp', memoryBomb.cpp)
const brief = scaleLimits({ cpuSeconds: 1, wallSeconds: 30 }).python
const cpu = await run(executor, 'python', busyLoop.python, '', { limits: brief })
const status = await run(executor, 'python', 'print(open("/proc/self/status").read())')
const seen = await run(
  executor,
  'python',
  'import os\nprint([p for p in ("/etc/shadow", "/work", "/sys", "/var") if os.path.lexists(p)])',
)
const descriptors = await run(
  executor,
  'python',
  'import os\nheld = []\nfor n in range(1024):\n  try: os.fstat(n); held.append(n)\n  except OSError: pass\nprint(held)',
)
const leaves = 'import os\nopen("out", "w").write("left")\nos.chmod("out", 0)\nos.chmod(".", 0)'
const left = await run(executor, 'python', leaves, '', { outputFiles: ['out'] })
console.log(
  JSON.stringify({
    isolation: executor.isolation,
    hello: greetings.map(({ stdout }) => stdout),
    memory: memory.ending,
    cpu: cpu.ending,
    status: status.stdout,
    seen: seen.stdout,
    descriptors: descriptors.stdout,
    left: left.outputFiles?.map(({ content }) => Buffer.from(content ?? []).toString()),
  }),
)
await executor.close()
