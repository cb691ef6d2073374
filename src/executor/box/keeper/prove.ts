// Proves before any program is accepted that boxes isolate on this host: the kernel's own files about a process inside must
// show it.
import { readFileSync } from 'node:fs'
import { SandboxError } from '#contract'
import type { Command, ForkServer, Phase, PhaseLimits, PhaseRequest } from '#contract'
import { boxUid } from './host-root.ts'

type Run = (request: PhaseRequest) => Promise<Phase>

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

/** Required lines of /proc/self/status inside a box: proc_pid_status(5). */
const required: readonly (readonly [string, RegExp])[] = [
  ['user', new RegExp(`^Uid:\\t${boxUid}\\t${boxUid}\\t${boxUid}\\t${boxUid}$`, 'm')],
  ['capabilities', /^CapEff:\t0+$/m],
  ['capability bounds', /^CapBnd:\t0+$/m],
  ['no_new_privs', /^NoNewPrivs:\t1$/m],
  ['system call filter', /^Seccomp:\t2$/m],
]

/** Returns how many filters the process of this status is under. */
function countFilters(status: string): number {
  return Number(/^Seccomp_filters:\t(\d+)$/m.exec(status)?.[1])
}

const shellProbe: Command = {
  argv: ['/bin/sh', '-c', 'cat /proc/self/status && cat /proc/self/net/dev >&2'],
  files: [],
  unlimitedStack: false,
}

/**
 * @param command prints its /proc/self/status on stdout and /proc/self/net/dev on stderr.
 * @throws {SandboxError} step `isolation.prove` with the missing properties, or the step that failed.
 */
export async function proveIsolation(run: Run, command = shellProbe): Promise<void> {
  const phase = await run({ command, limits })
  const status = Buffer.from(phase.stdout).toString('utf8')
  const failed = required.filter(([, pattern]) => !pattern.test(status)).map(([name]) => name)
  // A box is under its keeper's filter and its own, each of which lacks what is in the other.
  const own = countFilters(readFileSync('/proc/self/status', 'utf8'))
  if (!(countFilters(status) >= own + 2)) failed.push('one of two system call filters')
  // Two lines are headings. Loopback must be the only interface.
  const interfaces = Buffer.from(phase.stderr).toString('utf8').trim().split('\n').slice(2)
  if (interfaces.length !== 1 || !/^\s*lo:/.test(interfaces[0] ?? '')) failed.push('network')
  if (failed.length > 0)
    throw new SandboxError('isolation.prove', `the box lacks: ${failed.join(', ')}`)
}

/** @throws {SandboxError} step `fork.prove` when a program ends differently in a fork than by itself. */
export async function proveForks(run: Run, { name, proofs }: ForkServer): Promise<void> {
  for (const { command, stdout, exitCode } of proofs) {
    const phase = await run({ command, limits })
    if (Buffer.from(phase.stdout).toString() === stdout && phase.exitCode === exitCode) continue
    const source = command.files.map(({ content }) => Buffer.from(content).toString()).join('')
    throw new SandboxError('fork.prove', `${name}: ${source} ended with ${phase.exitCode}`)
  }
}
