-- Begins attempts of jobs that were taken together. Where there is anything to decide, runledger.start_execution does.

create or replace function runledger.start_executions(
  jobs job.execution[],
  worker_id uuid,
  schema_version integer,
  data jsonb,
  programs jsonb,
  metadata jsonb,
  under_way text[],
  offers text[],
  does text[]
) returns setof runledger.begun_execution
language plpgsql set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  -- In their order. Only partitions between the first and the last are looked into.
  _ids uuid[] := array(select j.submission_id from unnest(start_executions.jobs) j order by j.submission_id);
  _first constant uuid := _ids[1];
  _last constant uuid := _ids[cardinality(_ids)];
  _events runledger.new_event[];
  _begun runledger.begun_execution[];
begin
  select
    array_agg(
      row(
        j.submission_id, 2, 'execution.started', start_executions.schema_version,
        runledger.start_data(
          start_executions.data || (start_executions.programs -> j.language)
            || jsonb_build_object('run', j.run, 'language', j.language, 'total_seconds', tier.total_seconds),
          head.data, 1
        ),
        start_executions.metadata, head.hash
      )::runledger.new_event
    ),
    array_agg(
      row(
        j.run, j.job_id, j.submission_id, j.language, 2, body.code, body.stdin, body.expected_stdout,
        (head.data ->> 'account')::uuid, j.due_at, body.detail, tier.total_seconds
      )::runledger.begun_execution
    )
  into _events, _begun
  from unnest(start_executions.jobs) j
  join runledger.pending p on p.submission_id = j.submission_id
  join runledger.api_key k on k.id = p.api_key_id
  join runledger.tier on tier.name = k.tier
  cross join lateral (
    select e.type, e.data, e.hash from runledger.event e
    where e.stream_id = j.submission_id and e.stream_id between _first and _last
    order by e.stream_version desc limit 1
  ) head
  left join runledger.body on body.submission_id = j.submission_id and body.submission_id between _first and _last
  where head.type = 'submission.received' and head.data ->> 'language' = j.language
    and runledger.suits_worker(head.data, start_executions.offers, start_executions.does);
  if _events is not null then
    -- As runledger.start_execution.
    perform set_config('synchronous_commit', 'off', true);
    perform runledger.apply_events(_events, runledger.append_events(_events));
    return query select * from unnest(_begun);
  end if;
  if cardinality(_events) is distinct from cardinality(start_executions.jobs) then
    return query
      select
        j.run, j.job_id, j.submission_id, j.language, s.version, s.code, s.stdin, s.expected_stdout, s.account_id, j.due_at,
        s.detail, s.total_seconds
      from unnest(start_executions.jobs) j
      cross join lateral runledger.start_execution(
        j.submission_id, start_executions.worker_id, start_executions.schema_version,
        start_executions.data || (start_executions.programs -> j.language)
          || jsonb_build_object('run', j.run, 'language', j.language),
        start_executions.metadata, start_executions.under_way, start_executions.offers, start_executions.does
      ) s
      where not exists (select from unnest(_events) e where e.stream_id = j.submission_id);
  end if;
end
$$;
comment on function runledger.start_executions is 'runledger.start_execution for each job. No row: as that says. programs: what data says of each language.';
