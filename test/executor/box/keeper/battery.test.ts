// A battery of ordinary and hostile runs, with the keeper as it is and under the address and undefined-behaviour
// sanitizers. A sanitizer's report ends the keeper and fails the test.
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Evidence } from '../../../../src/executor/contract/judge-ending.ts'
import { timeFactor } from '../../../helper/executor.ts'
import {
  interpreter,
  listProcesses,
  request,
  sanitizers,
  startLoneKeeper,
  traps,
} from './lone-keeper.ts'

interface Case {
  readonly name: string
  readonly script: string
  readonly stdin?: string
  readonly limits?: Parameters<typeof request>[1]
  readonly expected: object
}

const python = (code: string): string => `exec python3 -c '${code}'`
const exited = (code: number): object => ({ exit: { code, signal: null }, reason: null })
/** Shell scripts and their expected results. */
const battery: readonly Case[] = [
  { name: 'nothing', script: ':', expected: exited(0) },
  { name: 'a status', script: 'exit 255', expected: exited(255) },
  { name: 'a signal', script: 'kill -SEGV $$', expected: { exit: { code: 139, signal: 'SIGSEGV' } } },
  { name: 'input', script: 'md5sum', stdin: 'x'.repeat(65_536), expected: exited(0) },
  { name: 'orphans', script: 'sleep 9 & sleep 9 & (sleep 9 &) & exit 4', expected: exited(4) },
  { name: 'closed streams', script: 'exec <&- >&- 2>&-; sleep 0.1; exit 5', expected: exited(5) },
  { name: 'a flood', script: 'yes', expected: { reason: 'output_limit' } },
  { name: 'a flood of errors', script: 'yes >&2', expected: { reason: 'output_limit' } },
  { name: 'the last byte', script: 'head -c 1048576 /dev/zero', expected: exited(0) },
  { name: 'a byte too many', script: 'head -c 1048577 /dev/zero', expected: { stdout: { exceeded: true } } },
  { name: 'a sleeper', script: 'sleep 60', limits: { wallSeconds: 0.2 }, expected: { reason: 'wall_limit' } },
  {
    name: 'memory',
    script: python('x = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): x[i] = 1'),
    expected: { outOfMemoryKills: /^[1-9]/ },
  },
  {
    name: 'memory in files',
    script: 'for d in /tmp /dev/shm /box; do head -c 1000000000 /dev/zero >$d/x; done',
    limits: { memoryBytes: 8 << 20 },
    expected: { stderr: { exceeded: false } },
  },
  { name: 'a bomb', script: 'f() { f | f & }; f; sleep 60', limits: { wallSeconds: 0.5 }, expected: {} },
  { name: 'signals to the first process', script: 'for s in 1 2 3 6 9 11 15 19; do kill -$s 1; done; exit 6', expected: exited(6) },
  {
    name: 'limits of the first process',
    script: python(
      'import resource, sys\ntry: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))\nexcept OSError: sys.exit(7)',
    ),
    expected: exited(7),
  },
] // prettier-ignore

for (const [build, further] of [
  ['as it is', []],
  ['under sanitizers', sanitizers],
] as const) {
  t.test(`a battery of runs, the keeper ${build}`, async (t) => {
    const { keeper, group } = await startLoneKeeper(t, { further })
    // Every script runs twice, because the second run meets what another script has left.
    for (const { name, script, stdin, limits, expected } of [...battery, ...battery.toReversed()]) {
      const asked = request(['/bin/sh', '-c', script], {
        ...limits,
        stdin: stdin ?? '',
        wallSeconds: (limits?.wallSeconds ?? 30) * timeFactor,
      })
      const evidence: Evidence = await keeper.run(asked)
      t.match(evidence, expected, name)
      if (name === 'input')
        t.match(evidence.stdout.bytes.toString(), createHash('md5').update(stdin!).digest('hex'))
    }
    const controller = new AbortController()
    const given = keeper.run(request(['/bin/sleep', '60']), controller.signal)
    setTimeout(() => controller.abort(new Error('given up')), 50)
    await t.rejects(given, { message: 'given up' })
    t.match(await keeper.run(request(['/bin/true'])), exited(0))
    await keeper.close()
    while (listProcesses(group).length > 0) await delay(5)
    t.pass('its last box ends with it')
  })
}

/** Python programs and their expected results, in forks. */
const forked: readonly Omit<Case, 'name'>[] = [
  { script: 'print(input())', stdin: 'said', expected: exited(0) },
  { script: 'raise SystemExit(3)', expected: exited(3) },
  { script: '1 / 0', expected: exited(1) },
  { script: 'def f(): f()\nf()', expected: exited(1) },
  { script: 'import os\nos.abort()', expected: { exit: { code: 134, signal: 'SIGABRT' } } },
  { script: 'import os\nprint(1)\nos.close(1)', expected: exited(120) },
  { script: 'import os, signal\nos.kill(os.getpid(), signal.SIGINT)', expected: { exit: { code: 130, signal: 'SIGINT' } } },
  { script: 'while True: print("x" * 9999)', expected: { reason: 'output_limit' } },
  { script: 'x = bytearray(1 << 30)', expected: { outOfMemoryKills: /^[1-9]/ } },
  { script: 'import os\nwhile True: os.fork()', limits: { wallSeconds: 0.5 }, expected: {} },
] // prettier-ignore

t.test('a battery of forked runs, the keeper under traps', async (t) => {
  const { keeper } = await startLoneKeeper(t, { further: traps, resident: interpreter })
  for (const { script, stdin, limits, expected } of [...forked, ...forked.toReversed()]) {
    const asked = request(interpreter, {
      memoryBytes: 128 << 20,
      stdin: stdin ?? '',
      wallSeconds: (limits?.wallSeconds ?? 30) * timeFactor,
      files: { 'main.py': script },
    })
    t.match(await keeper.run(asked), expected, script)
  }
})
