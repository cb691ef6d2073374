// Examines what root may do here. Where something has taken a right away, whatever needs it fails in words that name another
// cause. In an engine's container container.ts does this.
import type { Finding } from './finding.ts'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Host } from './host.ts'
import { readProcessFile } from './host.ts'

/** What of the host is looked at here. */
type RootHost = Pick<Host, 'uid' | 'processDirectory'>

/** Numbers of linux/capability.h: what it takes to become a slot's user. */
const needed = { SETGID: 6, SETUID: 7 } as const
/** What a worker can do without, and what is then closed to root. */
const wanted = {
  DAC_OVERRIDE: { number: 1, loss: 'cgroups and directories of other users are closed to it' },
  SYS_PTRACE: { number: 19, loss: 'boxes work, and cannot be looked at from outside' },
} as const

/** What an engine is told to give it back. */
const addRemedy = (names: readonly string[]): string =>
  `docker run ${names.map((name) => `--cap-add ${name}`).join(' ')} …`

/** No row for a worker that is not root: it needs none. */
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

/** Whether this process may look at what runs as another user. */
export function mayTrace(host: RootHost): boolean {
  return host.uid !== 0 || holds(host, wanted.SYS_PTRACE.number)
}

/** True when the kernel does not say. */
function holds(host: RootHost, number: number): boolean {
  const status = readProcessFile(host, 'self/status') ?? ''
  const mask = /^CapEff:\s*([\da-f]{1,16})$/mu.exec(status)?.[1]
  return mask === undefined || ((BigInt(`0x${mask}`) >> BigInt(number)) & 1n) === 1n
}
