-- Copies one result from its defining view into the table that caches it.

create or replace function runledger.refresh_result(submission_id uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into runledger.result
  select * from runledger.result_from_log where result_from_log.id = refresh_result.submission_id
  -- Every column: also constant ones may have been changed by hand.
  on conflict (id) do update set
    account_id = excluded.account_id,
    api_key_id = excluded.api_key_id,
    language = excluded.language,
    created_at = excluded.created_at,
    version = excluded.version,
    status = excluded.status,
    verdict = excluded.verdict,
    runtime = excluded.runtime,
    exit_code = excluded.exit_code,
    signal = excluded.signal,
    stdout_truncated = excluded.stdout_truncated,
    stderr_truncated = excluded.stderr_truncated,
    cpu_time = excluded.cpu_time,
    wall_time = excluded.wall_time,
    memory_peak = excluded.memory_peak,
    started_at = excluded.started_at,
    finished_at = excluded.finished_at,
    purged_at = excluded.purged_at,
    tag = excluded.tag,
    output_encoding = excluded.output_encoding,
    exceeded = excluded.exceeded,
    compile = excluded.compile,
    rerun_of = excluded.rerun_of,
    slot_seconds = excluded.slot_seconds
  where result.version < excluded.version
$$;
comment on function runledger.refresh_result is 'Brings one cached result up to its log.';
