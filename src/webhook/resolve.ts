// Resolves a receiver's name; replaceable. Asks name servers directly (c-ares): dns.lookup would hold one of four
// blocking threads, read /etc/hosts, and try search domains.
import { Resolver } from 'node:dns/promises'

/** Every address, in the order to try them. Rejects when there is none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

interface ResolverOptions {
  /** `address` or `address:port`; the system's when left out. */
  readonly servers?: readonly string[]
  /** For the slower question; 4 when left out, less than the DNS limit. */
  readonly patienceSeconds?: number
}

/**
 * Asks for A and AAAA at once. IPv4 comes first, as hosts without IPv6 are commoner. One answer suffices, as many name
 * servers give none for AAAA.
 */
export function createResolver({ servers, patienceSeconds = 4 }: ResolverOptions = {}): Resolve {
  return async (name, signal) => {
    // A new one each time: without a cache, and cancel() ends this look-up only.
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
