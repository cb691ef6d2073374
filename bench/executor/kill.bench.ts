// Measures how fast a program that exceeds a limit is dead: from the instant of the limit until `execute` resolves, when every
// process and the cgroup are gone.
// Floor: from SIGKILL to one sleeping process without a box until Node reports its exit.
// The program itself reports the instant, because CLOCK_MONOTONIC is the same in every kind of box. For a time limit, it
// reports the clocks at its first line, and then executes itself again to measure how long a start takes: the limit's clock
// had run for that long at the first line. For the CPU limit, it also keeps reporting the CPU time that it has used. For the
// output limit, it reads the clock right before its last write.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { FnReturnedObject } from 'tinybench'
import type { Ending } from '#executor'
import { measure } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { cacheScope, startExecutor } from './box.ts'
import type { BenchExecutor } from './box.ts'

const limitSeconds = 0.1
const outputBytes = 64 * 1024

// On any machine, a limit that takes longer than this to be enforced counts as broken.
const worstMilliseconds = 1000

// Reports both clocks in milliseconds, at the first line of the program and at the first line after it executes itself again.
const twiceBegun = `
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>
static double read_clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}
static void say_clocks() {
  char line[80];
  double wall = read_clock(CLOCK_MONOTONIC);
  int length = snprintf(line, sizeof line, "%.6f %.6f\\n", wall, read_clock(CLOCK_PROCESS_CPUTIME_ID));
  if (write(2, line, length) != length) abort();
}
static void begin(int argc, char **argv) {
  say_clocks();
  char again[] = "again";
  char *arguments[] = {argv[0], again, nullptr};
  if (argc == 1) execv("/proc/self/exe", arguments);
  if (argc == 1) abort();
}
`
const sleeper = `${twiceBegun}
int main(int argc, char **argv) {
  begin(argc, argv);
  sleep(60);
}
`
const forkBomb = `${twiceBegun}
int main(int argc, char **argv) {
  begin(argc, argv);
  for (;;) fork();
}
`
// Reports ten times per millisecond near the limit, because it is not known which report will be the last.
const busyLoop = `${twiceBegun}
int main(int argc, char **argv) {
  begin(argc, argv);
  double first = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  for (double said = ${0.8 * limitSeconds * 1000};;) {
    double used = read_clock(CLOCK_PROCESS_CPUTIME_ID) - first;
    if (used < said || used > ${1.2 * limitSeconds * 1000}) continue;
    say_clocks();
    said = used + 0.1;
  }
}
`
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

// Programs that sleep or fork can only reach the wall limit. Programs that compute or write have enough wall time for theirs.
const patient = { cpuSeconds: 1000, wallSeconds: limitSeconds }
const watched = { cpuSeconds: limitSeconds, wallSeconds: 60, stdoutBytes: outputBytes }
await using byWall = await startExecutor(1, patient)
await using byOther = await startExecutor(1, watched)

/** Runs a program. Returns what it wrote to stderr and when its run was over, in milliseconds of CLOCK_MONOTONIC. */
async function stop(
  executor: BenchExecutor,
  code: string,
  ending: Ending,
): Promise<{ readonly said: string; readonly overAt: number }> {
  const { run } = await executor.execute({
    language: 'cpp',
    code: Buffer.from(code),
    stdin: new Uint8Array(),
    cacheScope,
  })
  const overAt = Number(process.hrtime.bigint()) / 1e6
  assert.equal(run?.ending, ending)
  return { said: Buffer.from(run.stderr).toString(), overAt }
}

/** The values of both clocks, in milliseconds. */
interface Clocks {
  readonly wall: number
  readonly cpu: number
}

/** Returns the clocks' values when the limits' clocks started, and the program's later reports. */
function readClocks(said: string): { readonly start: Clocks; readonly later: readonly Clocks[] } {
  const [first, again, ...later] = said
    .split('\n')
    .slice(0, -1)
    .map((line): Clocks => {
      const [wall = Number.NaN, cpu = Number.NaN] = line.split(' ').map(Number)
      return { wall, cpu }
    })
  assert.ok(first !== undefined && again !== undefined, said)
  return {
    start: { wall: 2 * first.wall - again.wall, cpu: 2 * first.cpu - again.cpu },
    later,
  }
}

const sinceWall = (code: string) => async (): Promise<FnReturnedObject> => {
  const { said, overAt } = await stop(byWall, code, 'wall_limit')
  return { overriddenDuration: overAt - readClocks(said).start.wall - limitSeconds * 1000 }
}

async function sinceCpu(): Promise<FnReturnedObject> {
  const { said, overAt } = await stop(byOther, busyLoop, 'cpu_limit')
  const { start, later } = readClocks(said)
  const limit = start.cpu + limitSeconds * 1000
  const nearest = later.find(({ cpu }) => cpu >= limit) ?? later.at(-1)
  assert.ok(nearest !== undefined, 'it was ended long before its limit')
  // One thread computes without pause, so the CPU time between report and limit equals the wall time between them.
  return { overriddenDuration: overAt - (nearest.wall + limit - nearest.cpu) }
}

async function sinceOutput(): Promise<FnReturnedObject> {
  const { said, overAt } = await stop(byOther, flood, 'output_limit')
  return { overriddenDuration: overAt - Number(said) }
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
report('executor/kill', rows, {
  failures: rows
    .filter(({ max }) => max > worstMilliseconds)
    .map(
      ({ name, max }) => `${name}: ${max.toFixed(0)} ms once, more than ${worstMilliseconds} ms`,
    ),
})
