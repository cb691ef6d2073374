// A log of any length, made inside the server as the service would have written it: three events a submission, their hashes
// chained, a result, bodies for the newest; ids spread evenly over the past months, each in its partition.
import type { Caller } from '#account'
import type { Database } from '#database'

/** Makes so many finished submissions of one caller. */
export async function generateLog(
  sql: Database,
  caller: Caller,
  { submissions, days }: { readonly submissions: number; readonly days: number },
): Promise<void> {
  await makePastPartitions(sql, days)
  const batch = 50_000
  for (let first = 0; first < submissions; first += batch) {
    const last = Math.min(first + batch, submissions)
    await sql`
      with submission as (
        select
          id, at,
          jsonb_build_object(
            'account', ${caller.accountId}::text, 'api_key', ${caller.apiKeyId}::text, 'language', 'python',
            'code', jsonb_build_object('sha256', encode(sha256('print(1)'), 'hex'), 'bytes', 8),
            'stdin', jsonb_build_object('sha256', encode(sha256(''), 'hex'), 'bytes', 0),
            'expected_stdout', null, 'webhook', null
          ) as received,
          jsonb_build_object(
            'worker', ${caller.accountId}::text, 'host', 'bench', 'language', 'python', 'runtime', 'Python 3.11.2',
            'attempt', 1, 'isolation', jsonb_build_object('box', 'keeper', 'cgroup', 'v2'), 'limits', jsonb_build_object(
              'run', jsonb_build_object('cpuSeconds', 5, 'wallSeconds', 10, 'memoryBytes', 268435456, 'processes', 64)
            )
          ) as started,
          jsonb_build_object(
            'verdict', 'AC', 'exit_code', 0, 'signal', null, 'compile', null, 'compile_output', null,
            'run', jsonb_build_object(
              'ending', 'exited', 'exit_code', 0, 'signal', null, 'cpu_time', 0.01, 'wall_time', 0.02,
              'memory_peak', 9000000
            ),
            'stdout', jsonb_build_object('sha256', encode(sha256('1'), 'hex'), 'bytes', 1, 'truncated', false),
            'stderr', jsonb_build_object('sha256', encode(sha256(''), 'hex'), 'bytes', 0, 'truncated', false)
          ) as completed,
          '{"actor": {"operator": "bench"}}'::jsonb as metadata
        from generate_series(${first}::bigint, ${last - 1}::bigint) n
        cross join lateral (
          select now() - make_interval(secs => ${days * 86_400}::double precision * (${submissions} - n) / ${submissions}) as at
        ) time
        cross join lateral (
          select (left(runledger.uuid_floor(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid as id
        ) name
      ),
      one as (
        select *, runledger.hash_event(null, id, 1, 'submission.received', 1, received, metadata, at) as hash_1
        from submission
      ),
      two as (
        select *, runledger.hash_event(hash_1, id, 2, 'execution.started', 1, started, metadata, at) as hash_2 from one
      ),
      three as (
        select *, runledger.hash_event(hash_2, id, 3, 'execution.completed', 1, completed, metadata, at) as hash_3 from two
      ),
      event as (
        insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
        select id, e.version, e.type, 1, e.data, metadata, at, e.hash
        from three
        cross join lateral (values
          (1, 'submission.received', received, hash_1),
          (2, 'execution.started', started, hash_2),
          (3, 'execution.completed', completed, hash_3)
        ) e (version, type, data, hash)
      ),
      body as (
        insert into runledger.body (submission_id, code, stdin) select id, 'print(1)', '' from three
      ),
      output as (
        insert into runledger.output (submission_id, stdout, stderr) select id, '1', '' from three
      )
      insert into runledger.result
      select
        id, ${caller.accountId}, ${caller.apiKeyId}, 3, 'completed', 'AC', 'python', 'Python 3.11.2', 0, null, false, false,
        0.01, 0.02, 9000000, at, at, at, null
      from three`
  }
  await sql`vacuum (analyze) runledger.event, runledger.body, runledger.output, runledger.result`
}

// As they would be, had the service run for so long.
export async function makePastPartitions(sql: Database, days: number): Promise<void> {
  await sql.unsafe(`
    do $$
    declare
      _table record;
      _from timestamptz;
      _name text;
    begin
      for _table in
        select p.table_name as name, p.width, shape.* from runledger.partitioning p
        join (values ('month', 'YYYY_MM'), ('day', 'YYYY_MM_DD')) shape (unit, format)
          on shape.unit = case when p.width >= interval '1 month' then 'month' else 'day' end
      loop
        -- One more, because a month may have fewer than the 30 days that epoch counts.
        _from := date_trunc(_table.unit, now(), 'UTC')
          - _table.width * (1 + ceil(${days} * 86400 / extract(epoch from _table.width)));
        while _from < date_trunc(_table.unit, now(), 'UTC') loop
          _name := _table.name || '_' || to_char(_from at time zone 'UTC', _table.format);
          if to_regclass('runledger.' || _name) is null then
            execute format('create table runledger.%I partition of runledger.%I for values from (%L) to (%L)',
              _name, _table.name, runledger.uuid_floor(_from), runledger.uuid_floor(_from + _table.width));
          end if;
          _from := _from + _table.width;
        end loop;
      end loop;
    end
    $$`)
}
