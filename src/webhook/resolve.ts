// Resolves a receiver's name; settings can replace it. It asks name servers directly (c-ares), because dns.lookup would
// occupy one of four blocking threads, read /etc/hosts, and try search domains.
import { Resolver } from 'node:dns/promises'
import { withinSeconds } from '#abort'

/** Returns every address, in the order in which to try them. Rejects when there is none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

interface ResolverOptions {
  /** `address` or `address:port`; the system's name servers when left out. */
  readonly servers?: readonly string[]
  /** The time for the slower of the two queries; 4 when left out, less than the DNS limit. */
  readonly patienceSeconds?: number
}

/**
 * Queries A and AAAA at once. IPv4 comes first, because hosts without IPv6 are commoner. One answer is enough, because many
 * name servers do not answer AAAA.
 */
export function createResolver({ servers, patienceSeconds = 4 }: ResolverOptions = {}): Resolve {
  const lookUp = async (name: string, signal: AbortSignal): ReturnType<Resolve> => {
    // A new resolver each time has no cache, and its cancel() ends this look-up only.
    const resolver = new Resolver({ timeout: 1500, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    signal.addEventListener('abort', () => resolver.cancel(), { once: true })
    const [ipv4, ipv6] = await Promise.allSettled([
      resolver.resolve4(name),
      resolver.resolve6(name),
    ])
    const addresses = [ipv4, ipv6].flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
    return addresses
  }
  const late = (): Error => new Error('the name servers do not answer')
  return (name, signal) =>
    withinSeconds((limited) => lookUp(name, limited), patienceSeconds, late, signal)
}
