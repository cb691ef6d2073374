// Adds past submissions: only their records, without events.
import type { Database } from '#database'

/** A past submission: `age` in seconds before now, `begun` and `ended` in seconds after its receipt; null means not yet. */
export interface Past {
  readonly age: number
  readonly begun: number | null
  readonly ended: number | null
  readonly status?: string
}

/** Adds past submissions. @param sql a connection with the owner's rights. */
export async function addPast(sql: Database, past: readonly Past[]): Promise<void> {
  const pick = (name: 'age' | 'begun' | 'ended'): number[] =>
    past.map((one) => one[name]) as number[]
  const statuses = past.map(({ status = 'completed' }) => status)
  await sql`
    insert into runledger.result (id, account_id, api_key_id, version, status, language, created_at, started_at, finished_at)
    select
      (left(runledger.uuid_floor(at)::text, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid,
      gen_random_uuid(), gen_random_uuid(), 1, status, 'python', at, at + begun * interval '1 s', at + ended * interval '1 s'
    from unnest(
      ${pick('age')}::double precision[], ${pick('begun')}::double precision[], ${pick('ended')}::double precision[],
      ${statuses}::text[]
    ) past (age, begun, ended, status), lateral (select now() - age * interval '1 s' as at) moment`
}
