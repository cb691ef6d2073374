// Host uids that no other worker of this machine uses: two workers with the same uids would share the kernel's quotas, and
// could signal each other's programs.
//
// A worker claims a uid by listening on an abstract Unix socket named after it. The kernel gives such a name to one process
// at a time, and takes it back when the process ends. Containers with a network of their own do not see each other's names:
// their user namespaces keep them apart, or FIRST_UID.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { SandboxError, readCode } from '#contract'

/** Uids from `firstUid` on that are this process's until it releases them or ends. */
export interface UidRange {
  readonly firstUid: number
  release(): void
}

const rangeLimit = 64

/**
 * Claims so many uids in a row: the wanted ones, or the next range of that size that is free.
 * @throws {SandboxError} step `slot.uid` when 64 ranges from there on are taken.
 */
export async function claimUids(wanted: number, count: number): Promise<UidRange> {
  for (let tried = 0; tried < rangeLimit; tried += 1) {
    const firstUid = wanted + tried * count
    const claims = await claimAll(firstUid, count)
    if (claims !== null) return { firstUid, release: () => release(claims) }
  }
  const last = wanted + rangeLimit * count - 1
  throw new SandboxError(
    'slot.uid',
    `the host uids ${wanted} to ${last} are other workers'; FIRST_UID sets where this one's begin`,
  )
}

/** Null when one of them is another's. */
async function claimAll(firstUid: number, count: number): Promise<Server[] | null> {
  const claims: Server[] = []
  for (let uid = firstUid; uid < firstUid + count; uid += 1) {
    const claim = await claimOne(uid)
    if (claim === null) {
      release(claims)
      return null
    }
    claims.push(claim)
  }
  return claims
}

async function claimOne(uid: number): Promise<Server | null> {
  const server = createServer((connection) => connection.destroy())
  try {
    server.listen(`\0runledger-uid-${uid}`)
    await once(server, 'listening')
  } catch (error) {
    if (readCode(error) === 'EADDRINUSE') return null
    throw error
  }
  server.unref()
  return server
}

function release(claims: readonly Server[]): void {
  for (const claim of claims) claim.close()
}
