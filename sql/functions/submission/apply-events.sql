-- Applies events to cached results, each one step of runledger.result_from_log; where a row is elsewhere, the view is
-- asked. test/sql/fold.test.ts compares the two.

create or replace function runledger.apply_events(events runledger.new_event[], recorded_at timestamptz) returns void
language plpgsql set plan_cache_mode = force_generic_plan
-- A plan made while the tables were empty would read all of them.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  _applied integer := 0;
begin
  case (apply_events.events)[1].type
    when 'submission.received' then
      insert into runledger.result (
        id, account_id, api_key_id, version, status, language, created_at, tag, output_encoding, rerun_of
      )
      select
        e.stream_id, (e.data ->> 'account')::uuid, (e.data ->> 'api_key')::uuid, e.stream_version, 'queued',
        e.data ->> 'language', apply_events.recorded_at, e.data ->> 'tag', e.data ->> 'output_encoding',
        (e.data ->> 'rerun_of')::uuid
      from unnest(apply_events.events) e;
      get diagnostics _applied = row_count;
      insert into runledger.rerun (submission_id, rerun_of, campaign)
      select e.stream_id, (e.data ->> 'rerun_of')::uuid, e.data ->> 'campaign'
      from unnest(apply_events.events) e
      where e.data ? 'rerun_of';
    when 'execution.started' then
      update runledger.result r
      set version = e.stream_version, status = 'running', runtime = e.data ->> 'runtime',
        started_at = apply_events.recorded_at
      from unnest(apply_events.events) e
      where r.id = e.stream_id and r.version = e.stream_version - 1 and r.status = 'queued';
      get diagnostics _applied = row_count;
    when 'execution.completed', 'submission.cancelled' then
      update runledger.result r
      set version = e.stream_version, finished_at = apply_events.recorded_at,
        status = outcome.status, verdict = outcome.verdict, exit_code = outcome.exit_code, signal = outcome.signal,
        stdout_truncated = outcome.stdout_truncated, stderr_truncated = outcome.stderr_truncated,
        cpu_time = outcome.cpu_time, wall_time = outcome.wall_time, memory_peak = outcome.memory_peak,
        exceeded = e.data ->> 'limit', compile = nullif(e.data -> 'compile', 'null'),
        slot_seconds = (e.data ->> 'slot_seconds')::double precision
      from unnest(apply_events.events) e
      cross join lateral runledger.read_outcome(e.type, e.data) outcome
      where r.id = e.stream_id and r.version = e.stream_version - 1 and r.status = 'running';
      get diagnostics _applied = row_count;
    when 'submission.purged' then
      update runledger.result r
      set version = e.stream_version, purged_at = apply_events.recorded_at
      from unnest(apply_events.events) e
      where r.id = e.stream_id and r.version = e.stream_version - 1 and r.purged_at is null;
      get diagnostics _applied = row_count;
    else
      null;
  end case;
  if _applied < cardinality(apply_events.events) then
    perform runledger.refresh_result(e.stream_id) from unnest(apply_events.events) e;
  end if;
end
$$;
comment on function runledger.apply_events is 'Brings runledger.result up to date with events of one kind that were just appended, each to a stream of its own: all begin attempts, say, or all end submissions.';
