// How fast a program that passes a limit is dead: from the instant of the limit until `execute` has resolved, when
// every process is gone and the cgroup with them.
// Floor: SIGKILL to one sleeping process without a box until Node knows of its end.
// The instant is the program's own word, whatever kind of box it runs in: CLOCK_MONOTONIC is the same in every box. Where
// a clock is the limit, the program says when it got to its first line, and begins itself once more to see how long that
// takes: the clock has run for as long by then. Where CPU time is the limit, it goes on saying how much it has used. Where
// output is the limit, it reads the clock right before its last write.
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

// Beyond this a limit is none, whatever the machine.
const worstMilliseconds = 1000

// In milliseconds: what both clocks showed at the first line, and again at that of the same program begun anew.
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
// Ten times a millisecond near the limit: nobody knows which word will be the last.
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

// A program that sleeps or forks meets the wall limit alone, one that computes or writes is given the time for it.
const patient = { cpuSeconds: 1000, wallSeconds: limitSeconds }
const watched = { cpuSeconds: limitSeconds, wallSeconds: 60, stdoutBytes: outputBytes }
await using byWall = await startExecutor(1, patient)
await using byOther = await startExecutor(1, watched)

/** What the program wrote to stderr, and the time at which its run was over, by CLOCK_MONOTONIC. */
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

/** What both clocks showed, in milliseconds. */
interface Clocks {
  readonly wall: number
  readonly cpu: number
}

/** When the limits' clocks began to run, and what the program said later. */
function readClocks(said: string): { readonly begun: Clocks; readonly later: readonly Clocks[] } {
  const [first, again, ...later] = said
    .split('\n')
    .slice(0, -1)
    .map((line): Clocks => {
      const [wall = Number.NaN, cpu = Number.NaN] = line.split(' ').map(Number)
      return { wall, cpu }
    })
  assert.ok(first !== undefined && again !== undefined, said)
  return {
    begun: { wall: 2 * first.wall - again.wall, cpu: 2 * first.cpu - again.cpu },
    later,
  }
}

const sinceWall = (code: string) => async (): Promise<FnReturnedObject> => {
  const { said, overAt } = await stop(byWall, code, 'wall_limit')
  return { overriddenDuration: overAt - readClocks(said).begun.wall - limitSeconds * 1000 }
}

async function sinceCpu(): Promise<FnReturnedObject> {
  const { said, overAt } = await stop(byOther, busyLoop, 'cpu_limit')
  const { begun, later } = readClocks(said)
  const limit = begun.cpu + limitSeconds * 1000
  const nearest = later.find(({ cpu }) => cpu >= limit) ?? later.at(-1)
  assert.ok(nearest !== undefined, 'it was ended long before its limit')
  // One thread that computes without pause: what is missing to the limit, or above it, is as much time.
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
