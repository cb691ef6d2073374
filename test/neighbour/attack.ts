// The shape of the suite's tables. A new attack is a row in a table in attack/: what holds, and what one account does about it,
// by programs that it submits or by requests. Nothing else has to be touched.
import type { Language } from '#language'

/** A body of POST /api/submit. */
export interface Body {
  readonly language: Language
  readonly code: string
  readonly [field: string]: unknown
}

/** Where an attack is made. */
export interface Target {
  readonly port: number
  /** The attacker's. */
  readonly key: string
  /** Aborted when time is over. */
  readonly signal: AbortSignal
}

export interface NeighbourAttack {
  /** What one account does beside others, as a noun. */
  readonly name: string
  /** Each is posted, followed to its end and posted again until time is over; then it is cancelled. */
  readonly submissions: readonly Body[]
  /** What is done by requests meanwhile. */
  readonly act?: (target: Target) => Promise<void>
  /** `beta` unless said. */
  readonly tier?: 'beta' | 'unlimited'
  /** So long it goes on. */
  readonly seconds: number
  /** So long the attacker may have both slots by rights, as what has begun is not taken away. */
  readonly holdsSeconds: number
  /** A checker of its own may make its verdict IE. */
  readonly mayFail: boolean
  /** The most that the web process may hold meanwhile. */
  readonly webBytesMost?: number
  /** Descriptors that the suite itself needs for it. */
  readonly descriptors: number
}

type Further = Partial<Omit<NeighbourAttack, 'name' | 'submissions'>>

/** @param submissions may be two, which then want both slots. */
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

/** What a submitter may have who asks for much, but for no long time. */
export const wide = { wall_time: 2, cpu_time: 10, processes: 256, memory: 256 * mebibyte }

const headers =
  `assert ctype dirent errno fcntl limits poll pthread sched semaphore signal stdio stdlib string time unistd
  linux/futex linux/membarrier sys/epoll sys/eventfd sys/file sys/inotify sys/ipc sys/mman sys/mount sys/msg sys/prctl
  sys/resource sys/sem sys/shm sys/socket sys/stat sys/syscall sys/time sys/timerfd sys/un sys/wait`
    .trim()
    .split(/\s+/u)
    .map((name) => `#include <${name}.h>`)
    .join('\n')

/** A C program. @param body of main; what stands before a line `//main` is outside it. */
export function c(body: string, further: Partial<Body> = {}): Body {
  const [before, after] = body.split('//main')
  const [outside, inside] = after === undefined ? ['', body] : [before, after]
  const code = `#define _GNU_SOURCE\n${headers}\n${outside}\nint main(void) {\n${inside}\n}\n`
  return { language: 'c', code, limits: wide, ...further }
}

/** A program under `wide`. */
export function program(language: Language, code: string, further: Partial<Body> = {}): Body {
  return { language, code, limits: wide, ...further }
}
