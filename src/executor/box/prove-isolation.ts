// Proves on this host, before any program is accepted, that a box is what it is meant to be.
import { boxUid } from '#bubblewrap'
import type { Command, Phase, PhaseLimits, PhaseRequest } from '#contract'
import { SandboxError } from '#contract'
// The proof is what the kernel says about a process inside, not what was asked of whoever makes the box.

const mebibyte = 1024 * 1024

const limits: PhaseLimits = {
  cpuSeconds: 10,
  wallSeconds: 60,
  memoryBytes: 64 * mebibyte,
  processes: 16,
  stdoutBytes: mebibyte,
  stderrBytes: mebibyte,
  diskBytes: mebibyte,
}

/** What /proc/self/status must say inside a box. Format: proc_pid_status(5). */
const required: readonly (readonly [string, RegExp])[] = [
  ['user', new RegExp(`^Uid:\\t${boxUid}\\t${boxUid}\\t${boxUid}\\t${boxUid}$`, 'm')],
  ['capabilities', /^CapEff:\t0+$/m],
  ['capability bounds', /^CapBnd:\t0+$/m],
  ['no_new_privs', /^NoNewPrivs:\t1$/m],
  ['system call filter', /^Seccomp:\t2$/m],
]

/** Shows a process's status and interfaces. */
const shellProbe: Command = {
  argv: ['/bin/sh', '-c', 'cat /proc/self/status && cat /proc/self/net/dev >&2'],
  files: [],
  unlimitedStack: false,
}

/** The same for a box whose program is a fork of a resident interpreter, where there is one. */
export function probeInterpreter(interpreter: string): Command {
  const code = `import sys
sys.stdout.write(open('/proc/self/status').read())
sys.stderr.write(open('/proc/self/net/dev').read())
`
  return {
    argv: [interpreter, 'main.py'],
    files: [{ path: '/box/main.py', content: Buffer.from(code), executable: false }],
    unlimitedStack: true,
    forks: true,
  }
}

/** @throws {SandboxError} step `isolation.prove` naming what does not hold, or the step that failed. */
export async function proveIsolation(
  run: (request: PhaseRequest) => Promise<Phase>,
  command = shellProbe,
): Promise<void> {
  const phase = await run({
    name: 'probe',
    command,
    paths: [],
    stdin: new Uint8Array(),
    limits,
    ranOutOfMemory: () => false,
  })
  const status = Buffer.from(phase.stdout).toString('utf8')
  const failed = required.filter(([, pattern]) => !pattern.test(status)).map(([name]) => name)
  // Two lines of heading, then the interfaces; a box has the loopback alone.
  const interfaces = Buffer.from(phase.stderr).toString('utf8').trim().split('\n').slice(2)
  if (interfaces.length !== 1 || !/^\s*lo:/.test(interfaces[0] ?? '')) failed.push('network')
  if (failed.length > 0) {
    throw new SandboxError(
      'isolation.prove',
      `a box on this host lacks: ${failed.join(', ')}; run \`make doctor\``,
    )
  }
}

/** Programs whose ends an interpreter that runs them in a fork must tell as it does otherwise. */
const ends: readonly (readonly [
  source: string,
  endsQuietly: boolean,
  stdout: string,
  exitCode: number,
])[] = [
  ['print(__name__, __file__)', true, '__main__ /box/main.py\n', 0],
  ['print(1, end="")', false, '1', 0],
  ['print(1)\nraise SystemExit(3)', true, '1\n', 3],
  ['1 / 0', true, '', 1],
  ['import os\nprint(1)\nos.close(1)', true, '', 120],
]

/** @throws {SandboxError} step `python.prove` when this interpreter cannot be run in forks as its own programs are run. */
export async function proveForks(
  run: (request: PhaseRequest) => Promise<Phase>,
  interpreter: string,
): Promise<void> {
  for (const [source, endsQuietly, stdout, exitCode] of ends) {
    const content = Buffer.from(source)
    const phase = await run({
      name: 'probe-python',
      command: {
        argv: [interpreter, 'main.py'],
        files: [{ path: '/box/main.py', content, executable: false }],
        unlimitedStack: true,
        forks: true,
        endsQuietly,
      },
      paths: [],
      stdin: new Uint8Array(),
      limits,
      ranOutOfMemory: () => false,
    })
    if (Buffer.from(phase.stdout).toString() !== stdout || phase.exitCode !== exitCode) {
      throw new SandboxError('python.prove', `${source} ended with ${phase.exitCode}`)
    }
  }
}
