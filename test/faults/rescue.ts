// Measures from the log how long lost runs wait: from the loss of their worker until another attempt starts.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import type { Service } from './platform.ts'

/**
 * `killed`: another worker is alive; `alone`: no worker is alive until the platform starts one; `frozen`: stopped by
 * SIGSTOP; `blocked`: SIGUSR2 blocks the event loop (stall.ts).
 */
export type RescueKind = 'killed' | 'alone' | 'frozen' | 'blocked'
export type LosingSignal = 'SIGKILL' | 'SIGSTOP' | 'SIGUSR2'

export interface Rescues {
  lose(worker: Service, signal: LosingSignal, kind: RescueKind): Promise<void>
  /** Returns every restarted run by kind, the slowest last. `alone` counts from the restarted worker's readiness. */
  measure(): Promise<ReadonlyMap<string, readonly Rescue[]>>
}

export interface Rescue {
  readonly submission: string
  readonly seconds: number
}

interface Loss {
  readonly kind: string
  readonly submission: string
  readonly version: number
  since: number
}

/** @param label distinguishes phases in the figures. */
export function createRescues(sql: Database, label: () => string): Rescues {
  const losses: Loss[] = []
  return {
    async lose(worker, signal, kind) {
      const { pid } = worker
      const runsOf = async (): Promise<readonly { submission: string; version: number }[]> => sql`
        select e.stream_id as submission, e.stream_version as version
        from runledger.pending p
        cross join lateral (
          select * from runledger.event where stream_id = p.submission_id order by stream_version desc limit 1
        ) e
        where e.type = 'execution.started'
          and e.data ->> 'worker' = (select id::text from runledger.worker w where w.pid = ${pid} order by started_at desc limit 1)`
      // Waits for a run in progress; a worker without work is lost all the same.
      for (let left = 40; left > 0 && (await runsOf()).length === 0; left -= 1) await sleep(25)
      const since = Date.now()
      // Taken before the kill, because the platform may have started the next process when the query below is answered.
      const ended = worker.ended()
      worker.kill(signal)
      const lost = (await runsOf()).map((run) => ({ ...run, kind: `${kind}${label()}`, since }))
      losses.push(...lost)
      if (kind !== 'alone') return
      await ended
      await worker.ready()
      for (const loss of lost) loss.since = Date.now()
    },
    async measure() {
      const rescues = new Map<string, Rescue[]>()
      for (const { kind, submission, version, since } of losses) {
        const [row] = await sql`
          select min(extract(epoch from recorded_at))::double precision as at from runledger.event
          where stream_id = ${submission} and stream_version > ${version} and type = 'execution.started'`
        const at = row?.['at'] as number | null
        if (at === null) continue // the run completed at the moment of the loss, or was abandoned
        const seconds = Math.max(0, at - since / 1000)
        rescues.set(kind, [...(rescues.get(kind) ?? []), { submission, seconds }])
      }
      for (const list of rescues.values()) list.sort((a, b) => a.seconds - b.seconds)
      return rescues
    },
  }
}
