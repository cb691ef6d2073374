// From a receiver's name to its addresses. Separate so that tests, and operators with a directory of their own, can put
// another function in its place. Asks name servers directly (c-ares): dns.lookup would hold one of the process's four
// blocking threads as long as it likes, read /etc/hosts, and try the machine's search domains.
import { Resolver } from 'node:dns/promises'

/** Returns every address of a name, as text, in the order to try them. Rejects when there is none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

/** Where and how long to ask. */
export interface ResolverOptions {
  /** Name servers as `address` or `address:port`; the system's when left out. */
  readonly servers?: readonly string[]
  /** When to stop waiting for the slower of the two questions, in seconds; 4 when left out, less than the DNS limit. */
  readonly patienceSeconds?: number
}

/**
 * Makes a function that asks for A and AAAA records at once. IPv4 comes first: a host without IPv6 is the commoner one.
 * If one of the two fails, the other's answer stands; many name servers answer no AAAA question.
 */
export function createResolver({ servers, patienceSeconds = 4 }: ResolverOptions = {}): Resolve {
  return async (name, signal) => {
    // A new one each time: no cache, so a changed record counts at once; and cancel() ends this look-up's questions only.
    const resolver = new Resolver({ timeout: 1500, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = (): void => resolver.cancel()
    const timer = setTimeout(cancel, patienceSeconds * 1000)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const [ipv4, ipv6] = await Promise.allSettled([
        resolver.resolve4(name),
        resolver.resolve6(name),
      ])
      const addresses = [ipv4, ipv6].flatMap((answer) =>
        answer.status === 'fulfilled' ? answer.value : [],
      )
      if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
      return addresses
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
    }
  }
}
