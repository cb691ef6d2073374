// The shape of the suite's tables. A new attack is a row in a table in attack/: its name, and the programs that one account
// submits or the requests that it makes. No other file needs a change.
import type { Language } from '#language'

/** A body of POST /api/submit. */
export interface Body {
  readonly language: Language
  readonly code: string
  readonly [field: string]: unknown
}

/** The target of an attack. */
export interface Target {
  readonly port: number
  /** The attacker's API key. */
  readonly key: string
  /** Aborted when the time is over. */
  readonly signal: AbortSignal
}

export interface NeighbourAttack {
  /** What one account does beside others, as a noun. */
  readonly name: string
  /** Each body is posted, followed to its end and posted again until the time is over; then it is cancelled. */
  readonly submissions: readonly Body[]
  /** Requests that the attacker makes meanwhile. */
  readonly act?: (target: Target) => Promise<void>
  /** `beta` by default. */
  readonly tier?: 'beta' | 'unlimited'
  /** The duration of the attack. */
  readonly seconds: number
  /** How long the attacker may rightfully occupy both slots, because a started run is not taken away. */
  readonly holdsSeconds: number
  /** True when the attacker's own checker may make its verdict IE. */
  readonly mayFail: boolean
  /** The most bytes that the web process may hold during the attack. */
  readonly webBytesMost?: number
  /** Descriptors that the suite itself needs for the attack. */
  readonly descriptors: number
}

type Further = Partial<Omit<NeighbourAttack, 'name' | 'submissions'>>

/** @param submissions two bodies compete for both slots. */
export function attack(
  name: string,
  submissions: readonly Body[],
  further: Further = {},
): NeighbourAttack {
  return {
    name,
    submissions,
    seconds: 2,
    holdsSeconds: 0,
    mayFail: false,
    descriptors: 0,
    ...further,
  }
}

const mebibyte = 1024 * 1024

/** Generous limits for a short time. */
export const wide = { wall_time: 2, cpu_time: 10, processes: 256, memory: 256 * mebibyte }

const headers =
  `assert ctype dirent errno fcntl limits poll pthread sched semaphore signal stdio stdlib string time unistd
  linux/futex linux/membarrier sys/epoll sys/eventfd sys/file sys/inotify sys/ipc sys/mman sys/mount sys/msg sys/prctl
  sys/resource sys/sem sys/shm sys/socket sys/stat sys/syscall sys/time sys/timerfd sys/un sys/wait`
    .trim()
    .split(/\s+/u)
    .map((name) => `#include <${name}.h>`)
    .join('\n')

/** Makes a C program. @param body the statements of main; the part before a line `//main` goes outside it. */
export function c(body: string, further: Partial<Body> = {}): Body {
  const [before, after] = body.split('//main')
  const [outside, inside] = after === undefined ? ['', body] : [before, after]
  const code = `#define _GNU_SOURCE\n${headers}\n${outside}\nint main(void) {\n${inside}\n}\n`
  return { language: 'c', code, limits: wide, ...further }
}

/** Makes a program under the limits `wide`. */
export function program(language: Language, code: string, further: Partial<Body> = {}): Body {
  return { language, code, limits: wide, ...further }
}
