// Examines root's capabilities: without one, things fail in misleading words. For containers container.ts does this.
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import { readProcessFile } from './host.ts'
import type { Host } from './host.ts'

type RootHost = Pick<Host, 'uid' | 'processDirectory'>

/** Root becomes a slot's user with these. Numbers of linux/capability.h. */
const needed = { SETGID: 6, SETUID: 7 } as const
/** Root can work without these; each names what it then cannot do. */
const wanted = {
  DAC_OVERRIDE: { number: 1, loss: 'cgroups and directories of other users are closed to it' },
  SYS_PTRACE: {
    number: 19,
    loss: 'boxes work, and cannot be looked at from outside, nor can output_files where bubblewrap makes them',
  },
} as const

const addRemedy = (names: readonly string[]): string =>
  `docker run ${names.map((name) => `--cap-add ${name}`).join(' ')} …`

/** Empty for a worker that is not root. */
export function examineCapabilities(host: RootHost): Finding[] {
  if (host.uid !== 0) return []
  const name = 'capabilities'
  const lacking = Object.entries(needed).flatMap(([capability, number]) =>
    holds(host, number) ? [] : [capability],
  )
  if (lacking.length > 0)
    return [
      reportMissing(
        name,
        `root is without ${lacking.join(', ')} here`,
        `${addRemedy(lacking)}, or run the worker not as root`,
      ),
    ]
  const losses = Object.entries(wanted).filter(([, { number }]) => !holds(host, number))
  if (losses.length > 0) {
    const details = losses.map(([capability, { loss }]) => `without ${capability}: ${loss}`)
    const remedy = addRemedy(losses.map(([capability]) => capability))
    return [reportWarning(name, `root is here ${details.join('; ')}`, remedy)]
  }
  return [reportOk(name, 'all that root needs')]
}

/** Whether this process may inspect other users' processes. */
export function mayTrace(host: RootHost): boolean {
  return host.uid !== 0 || holds(host, wanted.SYS_PTRACE.number)
}

/** True when the kernel does not say. */
function holds(host: RootHost, number: number): boolean {
  const status = readProcessFile(host, 'self/status') ?? ''
  const mask = /^CapEff:\s*([\da-f]{1,16})$/mu.exec(status)?.[1]
  return mask === undefined || ((BigInt(`0x${mask}`) >> BigInt(number)) & 1n) === 1n
}
