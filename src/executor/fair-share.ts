// Decides what leaves a full store: the least recently used thing of the owner who holds most. So nobody loses a thing to an
// owner who holds more, and nobody can tell from what he still has how busy the others are.

export interface FairShare {
  /** Notes that a thing is there, of this size, and was used just now. */
  add(owner: string, name: string, bytes: number): void
  /** Notes that it was used just now. */
  use(owner: string, name: string): void
  /** Notes that it has gone. */
  remove(owner: string, name: string): void
  /** Removes what must go for all to be at most `capacity` bytes, and tells what it was. */
  shrink(capacity: number): { readonly owner: string; readonly name: string }[]
}

interface Share {
  total: number
  /** Bytes by name, the least recently used first. */
  readonly sizes: Map<string, number>
}

/** An empty one. */
export function createFairShare(): FairShare {
  const shares = new Map<string, Share>()
  let total = 0

  function append(owner: string, name: string, bytes: number): void {
    const share = shares.get(owner) ?? { total: 0, sizes: new Map<string, number>() }
    shares.set(owner, share)
    share.sizes.set(name, bytes)
    share.total += bytes
    total += bytes
  }

  function remove(owner: string, name: string): void {
    const share = shares.get(owner)
    const bytes = share?.sizes.get(name)
    if (share === undefined || bytes === undefined) return
    share.sizes.delete(name)
    share.total -= bytes
    total -= bytes
    if (share.sizes.size === 0) shares.delete(owner)
  }

  return {
    add(owner, name, bytes) {
      remove(owner, name)
      append(owner, name, bytes)
    },
    use(owner, name) {
      const sizes = shares.get(owner)?.sizes
      const bytes = sizes?.get(name)
      if (sizes === undefined || bytes === undefined) return
      sizes.delete(name)
      sizes.set(name, bytes)
    },
    remove,
    shrink(capacity) {
      const gone: { owner: string; name: string }[] = []
      while (total > capacity) {
        const [owner, { sizes }] = [...shares].reduce((most, other) =>
          other[1].total > most[1].total ? other : most,
        )
        const [name = ''] = sizes.keys()
        remove(owner, name)
        gone.push({ owner, name })
      }
      return gone
    },
  }
}
