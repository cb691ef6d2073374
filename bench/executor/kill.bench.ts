// How fast a program that passes a limit is dead: from the instant of the limit until `execute` has resolved, when
// every process is gone and the cgroup with them.
// Floor: SIGKILL to one sleeping process without a box until Node knows of its end.
// The instant: where a clock is the limit, the run's start plus the limit. The start is not told; the end is (the
// executor's measured time, up to the exit that Node announces), so start = exit − measured time. Where output is the
// limit, the program itself reads the clock right before its last write; CLOCK_MONOTONIC is the same in every box.
import assert from 'node:assert/strict'
import { ChildProcess, spawn } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { FnReturnedObject } from 'tinybench'
import type { Ending, Phase } from '#executor'
import { measure } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { startExecutor } from './box.ts'
import type { BenchExecutor } from './box.ts'

const limitSeconds = 0.1
const outputBytes = 64 * 1024

const sleeper = '#include <unistd.h>\nint main() { sleep(60); }\n'
const busyLoop = 'int main() { volatile unsigned n = 0; for (;;) n = n + 1; }\n'
const forkBomb = '#include <unistd.h>\nint main() { for (;;) fork(); }\n'
const flood = `
#include <ctime>
#include <cstdio>
#include <unistd.h>
int main() {
  static char bytes[${outputBytes}];
  for (size_t n = 0; n < sizeof bytes;) n += write(1, bytes + n, sizeof bytes - n);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(stderr, "%.6f", now.tv_sec * 1e3 + now.tv_nsec / 1e6);
  write(1, bytes, 1);
  sleep(60);
}
`

/** When the last child process of this process ended, by performance.now(). */
let exitedAt = 0
// https://nodejs.org/docs/latest-v24.x/api/diagnostics_channel.html#event-child_process
subscribe('child_process', (message) => {
  assert.ok(message instanceof Object && 'process' in message)
  assert.ok(message.process instanceof ChildProcess)
  message.process.once('exit', () => (exitedAt = performance.now()))
})

// A program that sleeps or forks meets the wall limit alone, one that computes or writes is given the time for it.
const patient = { cpuSeconds: 1000, wallSeconds: limitSeconds }
const watched = { cpuSeconds: limitSeconds, wallSeconds: 60, stdoutBytes: outputBytes }
await using byWall = await startExecutor(1, patient)
await using byOther = await startExecutor(1, watched)

async function stopped(executor: BenchExecutor, code: string, ending: Ending): Promise<Phase> {
  const { run } = await executor.execute({
    language: 'cpp',
    code: Buffer.from(code),
    stdin: new Uint8Array(),
  })
  assert.equal(run?.ending, ending)
  return run
}

const sinceWall = (code: string) => async (): Promise<FnReturnedObject> => {
  const { usage } = await stopped(byWall, code, 'wall_limit')
  const late = (usage.wallSeconds - limitSeconds) * 1000
  return { overriddenDuration: performance.now() - exitedAt + late }
}

// One thread computing without pause: a second of CPU time is a second.
async function sinceCpu(): Promise<FnReturnedObject> {
  const { usage } = await stopped(byOther, busyLoop, 'cpu_limit')
  const late = (usage.cpuSeconds - limitSeconds) * 1000
  return { overriddenDuration: performance.now() - exitedAt + late }
}

async function sinceOutput(): Promise<FnReturnedObject> {
  const { stderr } = await stopped(byOther, flood, 'output_limit')
  const now = Number(process.hrtime.bigint()) / 1e6
  return { overriddenDuration: now - Number(Buffer.from(stderr).toString()) }
}

async function killBare(): Promise<FnReturnedObject> {
  const child = spawn('/bin/sleep', ['60'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const started = performance.now()
  child.kill('SIGKILL')
  await once(child, 'exit')
  return { overriddenDuration: performance.now() - started }
}

const floor = 'bare SIGKILL'
const iterations = scaleIterations(12, 4)
const rows = await measure([
  { name: floor, iterations, run: killBare },
  { name: 'wall limit, a sleeper', floor, iterations, run: sinceWall(sleeper) },
  { name: 'wall limit, a fork bomb', floor, iterations, run: sinceWall(forkBomb) },
  { name: 'CPU limit, a busy loop', floor, iterations, run: sinceCpu },
  { name: 'output limit, a flood', floor, iterations, run: sinceOutput },
])
report('executor/kill', rows)
