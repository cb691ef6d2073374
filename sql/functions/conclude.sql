-- The end of submissions: what an attempt came to goes into the log, and all that follows from an end goes with it, in one
-- commit. Notifying who waits is the caller's, after the commit: NOTIFY holds a lock of the whole cluster until its
-- transaction is on disk, so commits with one queue up.
--
-- All that changes a submission locks its pending row first, several in the order of their ids: so nothing comes between what
-- is read of a stream and what is appended to it. A key is locked after that, by an end that makes room for its next one.

create or replace function runledger.conclude(items jsonb)
returns table (refusal text, waiters text[], notification text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
-- As runledger.start.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  _items runledger.attempt_end[] := array(
    select row(item.*)::runledger.attempt_end
    from rows from (
      jsonb_to_recordset(conclude.items) as (
        submission_id uuid, started_version integer, run text, schema_version integer, data jsonb, metadata jsonb, stdout text,
        stderr text, compile_output text, report text
      )
    ) with ordinality item
  );
  _own integer[];
  _events runledger.new_event[];
  _ended runledger.ended_submission[];
begin
  for _round in 1..2 loop
    select
      array_agg(own.n),
      array_agg(row(
        own.submission_id, own.version + 1,
        -- Asked for, its end is a cancellation, however the program ended.
        case when own.is_cancelled then 'submission.cancelled' else 'execution.completed' end, own.schema_version,
        case when own.is_cancelled then own.data - 'verdict' else own.data end, own.metadata, own.hash
      )::runledger.new_event)
    into _own, _events
    from (
      select locked.*, row_number() over (partition by locked.submission_id order by locked.n) as place
      from (
        select item.*, p.is_cancelled, p.version, p.hash
        from unnest(_items) item
        join runledger.pending p on p.submission_id = item.submission_id
        where p.is_running and p.run is not distinct from coalesce(item.run, p.run)
          and runledger.started_version(p) = item.started_version
          and (p.is_cancelled or item.data ->> 'verdict' is not null)
        order by item.submission_id for update of p
      ) locked
    ) own
    where own.place = 1;
    -- A row may be gone, or not be as the log says.
    exit when cardinality(_own) = cardinality(_items) or not coalesce((
      select bool_or(runledger.refresh_submission(item.submission_id)) from unnest(_items) item
      where item.n <> all (coalesce(_own, '{}'))
    ), false);
  end loop;

  if _events is not null then
    select array_agg(ended) into _ended from runledger.end_submissions(_events) ended;
    insert into runledger.output (submission_id, stdout, stderr, compile_output, report)
    select
      item.submission_id, decode(item.stdout, 'base64'), decode(item.stderr, 'base64'), decode(item.compile_output, 'base64'),
      decode(item.report, 'base64')
    from unnest(_items) item
    join unnest(_ended) ended on ended.submission_id = item.submission_id
    where item.n = any (_own);
  end if;
  return query
    select
      case when ended.submission_id is null then runledger.explain_refusal(item) end,
      ended.waiters,
      case when ended.waiters is not null then runledger.describe_end(ended.submission_id) end
    from unnest(_items) item
    left join unnest(_ended) ended on ended.submission_id = item.submission_id and item.n = any (_own)
    order by item.n;
end
$$;
comment on function runledger.conclude is 'Ends the attempts of items, an array of objects: submission_id, started_version (of its execution.started), run (as that names it; null: any), schema_version and data of the event, metadata, and in base64 or null stdout, stderr, compile_output, report. Appends execution.completed to each; or, where its end was asked for, submission.cancelled with the same data but the verdict. One row an item, in their order. refusal: null, or why nothing was written of it. stored: an earlier call with the same end was. superseded: the attempt was given up, its result is to be dropped. start_lost: a crash of the server has forgotten the start, the submission is to be started again. no_verdict: data has none, and nobody asked for the end. waiters: channels to be sent notification after the commit; null: nobody waits.';

create or replace function runledger.explain_refusal(item runledger.attempt_end) returns text
language sql stable
as $$
  select case
    -- Starts are not waited for on disk: a crash may have given this version to another attempt.
    when started.hash is null then 'start_lost'
    when next.type = 'execution.completed' or asked_for.type = 'submission.cancelled' and not asked_for.data ? 'lost' then 'stored'
    when next.type is null and item.data ->> 'verdict' is null then 'no_verdict'
    else 'superseded'
  end
  from (select) nothing
  left join runledger.event started
    on started.stream_id = item.submission_id and started.stream_version = item.started_version
      and (item.run is null or started.type = 'execution.started' and started.data ->> 'run' = item.run)
  left join runledger.event next
    on next.stream_id = item.submission_id and next.stream_version = item.started_version + 1
  left join runledger.event asked_for
    on asked_for.stream_id = item.submission_id and asked_for.stream_version = item.started_version + 2
      and next.type = 'submission.cancel_requested'
$$;
comment on function runledger.explain_refusal is 'Why nothing was written of an end, by the log (runledger.conclude).';

create or replace function runledger.end_submissions(events runledger.new_event[])
returns setof runledger.ended_submission
language plpgsql set plan_cache_mode = force_generic_plan
-- As runledger.start.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  _recorded_at constant timestamptz := clock_timestamp();
  _gone runledger.pending[];
  _key uuid;
  _webhook_id uuid;
begin
  with appended as (
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select
      e.stream_id, e.stream_version, e.type, e.schema_version, e.data, e.metadata, _recorded_at,
      runledger.hash_event(
        e.previous_hash, e.stream_id, e.stream_version, e.type, e.schema_version, e.data, e.metadata, _recorded_at
      )
    from unnest(end_submissions.events) e
    on conflict do nothing
    returning stream_id
  ), gone as (
    delete from runledger.pending p using appended where p.submission_id = appended.stream_id
    returning p.*
  ), stored as (
    insert into runledger.result (
      id, account_id, api_key_id, version, status, verdict, language, runtime, exit_code, signal, stdout_truncated,
      stderr_truncated, cpu_time, wall_time, memory_peak, created_at, started_at, finished_at, tag, output_encoding, exceeded,
      compile, rerun_of, slot_seconds
    )
    select
      p.submission_id, p.account_id, p.api_key_id, e.stream_version, outcome.status, outcome.verdict, p.language, p.runtime,
      outcome.exit_code, outcome.signal, outcome.stdout_truncated, outcome.stderr_truncated, outcome.cpu_time,
      outcome.wall_time, outcome.memory_peak, p.created_at, p.started_at, _recorded_at, p.tag, p.output_encoding,
      e.data ->> 'limit', nullif(e.data -> 'compile', 'null'), p.rerun_of, (e.data ->> 'slot_seconds')::double precision
    from gone p
    join unnest(end_submissions.events) e on e.stream_id = p.submission_id
    cross join lateral runledger.read_outcome(e.type, e.data) outcome
  )
  select array_agg(row(gone.*)::runledger.pending) into _gone from gone;
  if cardinality(_gone) is distinct from cardinality(end_submissions.events) then
    -- Their rows were not as the log says.
    perform runledger.refresh_submission(e.stream_id) from unnest(end_submissions.events) e
    where not exists (select from unnest(_gone) gone where gone.submission_id = e.stream_id);
  end if;

  for _key in
    select distinct k.id
    from unnest(_gone) gone
    join runledger.api_key k on k.id = gone.api_key_id
    join runledger.tier on tier.name = k.tier
    where gone.admitted and tier.concurrent_executions is not null
    order by k.id
  loop
    perform runledger.admit_waiting(_key);
  end loop;

  for _webhook_id in
    update runledger.delivery set state = 'pending', due_at = now()
    where delivery.submission_id = any (array(select gone.submission_id from unnest(_gone) gone)) and delivery.state = 'waiting'
    returning delivery.webhook_id
  loop
    perform job.enqueue_deliver(_webhook_id, now());
  end loop;

  return query select gone.submission_id, gone.waiters from unnest(_gone) gone;
end
$$;
comment on function runledger.end_submissions is 'Appends the events, each the end of a submission whose pending row is locked, and does what follows from an end: the result, the webhook''s job, the key''s next submission. Returns those that ended, with the channels of who waits. Nothing is written of one whose row is not as the log says, which is mended.';

create or replace function runledger.describe_end(submission_id uuid) returns text
language plpgsql stable set plan_cache_mode = force_generic_plan
as $$
declare
  -- PostgreSQL's limit of a notification.
  _most_bytes constant integer := 7999;
  _record text;
begin
  select row_to_json(record)::text into _record
  from runledger.result r, runledger.read_result(r.id, r.account_id) record
  where r.id = describe_end.submission_id
    -- Bytes are written in hexadecimal.
    and 2 * (
      coalesce(octet_length(record.stdout), 0) + coalesce(octet_length(record.stderr), 0)
      + coalesce(octet_length(record.compile_output), 0) + coalesce(octet_length(record.report), 0)
    ) <= _most_bytes;
  return case when octet_length(_record) <= _most_bytes then _record
    else json_build_object('id', describe_end.submission_id)::text end;
end
$$;
comment on function runledger.describe_end is 'What the waiters of a submission are notified of: the row of runledger.read_result as JSON, or its id alone if that is too long.';
