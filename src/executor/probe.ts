// Proves on this host, before any program is accepted, that a box is what it is meant to be.
// The proof is what the kernel says about a process inside, not what was asked of bubblewrap.
import { boxUid } from './bubblewrap.ts'
import { SandboxError } from './outcome.ts'
import type { Phase } from './outcome.ts'
import type { PhaseRequest } from './phase.ts'

const mebibyte = 1024 * 1024

/** What /proc/self/status must say inside a box. Format: proc_pid_status(5). */
const required: readonly (readonly [string, RegExp])[] = [
  ['user', new RegExp(`^Uid:\\t${boxUid}\\t${boxUid}\\t${boxUid}\\t${boxUid}$`, 'm')],
  ['capabilities', /^CapEff:\t0+$/m],
  ['capability bounds', /^CapBnd:\t0+$/m],
  ['no_new_privs', /^NoNewPrivs:\t1$/m],
  ['system call filter', /^Seccomp:\t2$/m],
]

/** @throws {SandboxError} step `isolation.prove` naming what does not hold, or the step that failed. */
export async function proveIsolation(
  run: (request: PhaseRequest) => Promise<Phase>,
): Promise<void> {
  const phase = await run({
    name: 'probe',
    command: {
      argv: ['/bin/sh', '-c', 'cat /proc/self/status && cat /proc/net/dev >&2'],
      files: [],
      unlimitedStack: false,
    },
    paths: [],
    stdin: new Uint8Array(),
    limits: {
      cpuSeconds: 10,
      wallSeconds: 60,
      memoryBytes: 64 * mebibyte,
      processes: 16,
      stdoutBytes: mebibyte,
      stderrBytes: mebibyte,
      diskBytes: mebibyte,
    },
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
