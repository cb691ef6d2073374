// Claims host uids that no other worker of this machine uses. With the same uids two workers would share the kernel's quotas,
// and their programs could signal each other.
//
// A worker claims a uid by listening on an abstract Unix socket named after the uid. The kernel gives such a name to one
// process at a time, and frees it when the process ends. Containers with separate networks do not see each other's names; user
// namespaces or FIRST_UID must keep their uids apart.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { SandboxError, readCode } from '#contract'

/** A range of uids that this process holds until it releases them or ends. */
export interface UidRange {
  readonly firstUid: number
  release(): void
}

const rangeLimit = 64

/**
 * Claims `count` consecutive uids from `wanted` on, or the next free range of that size.
 * @throws {SandboxError} step `slot.uid` when 64 ranges in a row are taken.
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
    `the host uids ${wanted} to ${last} belong to other workers; set FIRST_UID to the first of another range`,
  )
}

/** Claims a whole range; null when another worker holds one of its uids. */
async function claimAll(firstUid: number, count: number): Promise<Server[] | null> {
  const uids = Array.from({ length: count }, (_, index) => firstUid + index)
  const claims = (await Promise.all(uids.map(claimOne))).filter((claim) => claim !== null)
  if (claims.length === count) return claims
  release(claims)
  return null
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
