// Lends each resident to one request at a time, and ends retired ones when they come back.
import type { Resident } from './process.ts'

export interface Member {
  readonly resident: Resident
  readonly bornSeconds: number
  /** Resolved when its successor should start. */
  readonly tired: PromiseWithResolvers<void>
  served: number
  isBusy: boolean
  isRetired: boolean
}

export interface Lending {
  /** Adds a resident as long as it lives; busy until offered. */
  enlist(resident: Resident): Member
  /** Gives it to whoever waits longest, or leaves it free. */
  offer(member: Member): void
  /** Null when none is free in time; at once when there are none at all. */
  take(): Promise<Member | null>
  /** Lends it no more, and ends it when it is free. */
  retire(member: Member): void
  /** Resolves when all are gone. */
  endAll(): Promise<void>
}

/** Longest wait for a busy resident; most answers take a tenth of this. */
const patienceMilliseconds = 100

export function createLending(): Lending {
  const members = new Set<Member>()
  const waiters = new Set<(member: Member | null) => void>()
  return {
    enlist(resident) {
      const member: Member = {
        resident,
        bornSeconds: performance.now() / 1000,
        tired: Promise.withResolvers(),
        served: 0,
        isBusy: true,
        isRetired: false,
      }
      members.add(member)
      const forget = (): void => void members.delete(member)
      resident.ended.then(forget, forget)
      return member
    },
    offer(member) {
      member.isBusy = false
      if (member.isRetired) return member.resident.end()
      const [waiter] = waiters
      if (waiter === undefined) return
      member.isBusy = true
      waiter(member)
    },
    take() {
      const free = [...members].find(({ isBusy, isRetired }) => !isBusy && !isRetired)
      if (free !== undefined) free.isBusy = true
      if (free !== undefined || members.size === 0) return Promise.resolve(free ?? null)
      return waitFor(waiters)
    },
    retire(member) {
      member.isRetired = true
      if (!member.isBusy) member.resident.end()
    },
    async endAll() {
      for (const { resident } of members) resident.end()
      await Promise.allSettled([...members].map(({ resident }) => resident.ended))
    },
  }
}

function waitFor(waiters: Set<(member: Member | null) => void>): Promise<Member | null> {
  return new Promise((resolve) => {
    const settle = (member: Member | null): void => {
      clearTimeout(timer)
      waiters.delete(settle)
      resolve(member)
    }
    const timer = setTimeout(settle, patienceMilliseconds, null)
    waiters.add(settle)
  })
}
