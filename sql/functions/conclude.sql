-- The end of submissions: what an attempt came to goes into the log, and all that follows from an end goes with it, in one
-- commit. Notifying who waits is the caller's, after the commit: NOTIFY holds a lock of the whole cluster until its
-- transaction is on disk, so commits with one queue up.
--
-- All that changes a submission locks its pending row first, several in the order of their ids: so nothing comes between what
-- is read of a stream and what is appended to it. A key is locked after that, by an end that makes room for its next one.

create or replace function runledger.conclude(items jsonb)
returns table (refusal text, waiters text[], notification text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- A join alone may begin with all that is pending, by a plan made while little was.
  _ids constant uuid[] := array(select (item ->> 'submission_id')::uuid from jsonb_array_elements(conclude.items) item);
  _ends runledger.submission_end[];
  _ended runledger.ended_submission[];
begin
  for _round in 1..2 loop
    select array_agg(row(
      own.submission_id, own.version + 1,
      -- Asked for, its end is a cancellation, however the program ended.
      case when own.is_cancelled then 'submission.cancelled' else 'execution.completed' end, own.schema_version,
      case when own.is_cancelled then own.data - 'verdict' else own.data end, own.metadata, own.hash, own.n,
      decode(own.stdout, 'base64'), decode(own.stderr, 'base64'), decode(own.compile_output, 'base64'),
      decode(own.report, 'base64')
    )::runledger.submission_end)
    into _ends
    from (
      select locked.*, row_number() over (partition by locked.submission_id order by locked.n) as place
      from (
        select item.*, p.is_cancelled, p.version, p.hash
        from rows from (
          jsonb_to_recordset(conclude.items) as (
            submission_id uuid, started_version integer, run text, schema_version integer, data jsonb, metadata jsonb,
            stdout text, stderr text, compile_output text, report text
          )
        ) with ordinality item (
          submission_id, started_version, run, schema_version, data, metadata, stdout, stderr, compile_output, report, n
        )
        join runledger.pending p on p.submission_id = item.submission_id
        where p.submission_id = any (_ids) and p.is_running and p.run is not distinct from coalesce(item.run, p.run)
          -- Only submission.cancel_requested comes between a start and its end.
          and p.version - p.is_cancelled::integer = item.started_version
          and (p.is_cancelled or item.data ->> 'verdict' is not null)
        order by item.submission_id for update of p
      ) locked
    ) own
    where own.place = 1;
    -- A row may be gone, or not be as the log says.
    exit when cardinality(_ends) = jsonb_array_length(conclude.items);
    exit when runledger.refresh_submissions(array(
      select item.submission_id
      from rows from (jsonb_to_recordset(conclude.items) as (submission_id uuid)) with ordinality item (submission_id, n)
      where not exists (select from unnest(_ends) own where own.n = item.n)
    )) = 0;
  end loop;

  _ended := runledger.end_submissions(_ends);
  return query
    select
      case when ended.n is null then (
        select case
          -- Starts are not waited for on disk: a crash may have given this version to another attempt.
          when started.hash is null then 'start_lost'
          when next.type = 'execution.completed' or asked_for.type = 'submission.cancelled' and not asked_for.data ? 'lost'
            then 'stored'
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
      ) end,
      ended.waiters,
      case when ended.waiters is not null then
        runledger.describe_end(ended.result, d, own.stdout, own.stderr, own.compile_output, own.report)
      end
    from rows from (
      jsonb_to_recordset(conclude.items) as (submission_id uuid, started_version integer, run text, data jsonb)
    ) with ordinality item (submission_id, started_version, run, data, n)
    left join unnest(_ended) ended on ended.n = item.n
    left join unnest(_ends) own on own.n = ended.n
    left join runledger.delivery d on d.submission_id = item.submission_id
    order by item.n;
end
$$;
comment on function runledger.conclude is 'Ends the attempts of items, an array of objects: submission_id, started_version (of its execution.started), run (as that names it; null: any), schema_version and data of the event, metadata, and in base64 or null stdout, stderr, compile_output, report. Appends execution.completed to each; or, where its end was asked for, submission.cancelled with the same data but the verdict. One row an item, in their order. refusal: null, or why nothing was written of it. stored: an earlier call with the same end was. superseded: the attempt was given up, its result is to be dropped. start_lost: a crash of the server has forgotten the start, the submission is to be started again. no_verdict: data has none, and nobody asked for the end. waiters: channels to be sent notification after the commit; null: nobody waits.';

create or replace function runledger.end_submissions(ends runledger.submission_end[]) returns runledger.ended_submission[]
language plpgsql
as $$
declare
  _recorded_at constant timestamptz := clock_timestamp();
  _ended runledger.ended_submission[];
  _keys uuid[];
  _webhooks uuid[];
  _batches uuid[];
  _id uuid;
begin
  with appended as (
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select
      e.submission_id, e.version, e.type, e.schema_version, e.data, e.metadata, _recorded_at,
      runledger.hash_event(
        e.previous_hash, e.submission_id, e.version, e.type, e.schema_version, e.data, e.metadata, _recorded_at
      )
    from unnest(end_submissions.ends) e
    on conflict do nothing
    returning stream_id
  ), gone as (
    delete from runledger.pending p where p.submission_id = any (array(select appended.stream_id from appended))
    returning p.*
  ), stored as (
    insert into runledger.result (
      id, account_id, api_key_id, version, status, verdict, language, runtime, exit_code, signal, stdout_truncated,
      stderr_truncated, cpu_time, wall_time, memory_peak, created_at, started_at, finished_at, tag, output_encoding, exceeded,
      compile, rerun_of, slot_seconds, score, max_score
    )
    select
      p.submission_id, p.account_id, p.api_key_id, e.version, outcome.status, outcome.verdict, p.language, p.runtime,
      outcome.exit_code, outcome.signal, outcome.stdout_truncated, outcome.stderr_truncated, outcome.cpu_time,
      outcome.wall_time, outcome.memory_peak, p.created_at, p.started_at, _recorded_at, p.tag, p.output_encoding,
      e.data ->> 'limit', nullif(e.data -> 'compile', 'null'), p.rerun_of, (e.data ->> 'slot_seconds')::double precision,
      (e.data ->> 'score')::double precision, (e.data ->> 'max_score')::double precision
    from gone p
    join unnest(end_submissions.ends) e on e.submission_id = p.submission_id
    cross join lateral runledger.read_outcome(e.type, e.data) outcome
    returning result.*
  ), kept as (
    insert into runledger.output (submission_id, stdout, stderr, compile_output, report)
    select e.submission_id, e.stdout, e.stderr, e.compile_output, e.report
    from appended
    join unnest(end_submissions.ends) e on e.submission_id = appended.stream_id
    where e.n is not null
  ), due as (
    update runledger.delivery d set state = 'pending', due_at = now()
    from appended where d.submission_id = appended.stream_id and d.state = 'waiting'
    returning d.webhook_id
  )
  select
    array_agg(row(e.n, row(stored.*)::runledger.result, gone.waiters)::runledger.ended_submission),
    array_agg(distinct gone.api_key_id) filter (where gone.admitted and exists (
      select from runledger.api_key k join runledger.tier on tier.name = k.tier
      where k.id = gone.api_key_id and tier.concurrent_executions is not null
    )),
    (select array_agg(due.webhook_id) from due),
    array_agg(distinct gone.batch_id) filter (where gone.batch_id is not null)
  into _ended, _keys, _webhooks, _batches
  from gone
  join stored on stored.id = gone.submission_id
  join unnest(end_submissions.ends) e on e.submission_id = gone.submission_id;
  if cardinality(_ended) is distinct from cardinality(end_submissions.ends) then
    -- Their rows were not as the log says.
    perform runledger.refresh_submissions(array(
      select e.submission_id from unnest(end_submissions.ends) e
      where not exists (select from unnest(_ended) ended where (ended.result).id = e.submission_id)
    ));
  end if;

  if _batches is not null then
    _webhooks := _webhooks || runledger.end_batches(_batches);
  end if;
  foreach _id in array coalesce(_keys, '{}') loop
    perform runledger.admit_waiting(_id);
  end loop;
  foreach _id in array coalesce(_webhooks, '{}') loop
    perform job.enqueue_deliver(_id, now());
  end loop;
  return _ended;
end
$$;
comment on function runledger.end_submissions is 'Ends submissions whose pending rows are locked: appends the events, and does what follows from an end: result and outputs, the jobs of webhooks, the key''s next submission. Returns those that ended, with the channels of who waits. Nothing is written of one whose row is not as the log says, which is mended.';

create or replace function runledger.describe_end(
  result runledger.result, delivery runledger.delivery, stdout bytea, stderr bytea, compile_output bytea, report bytea
) returns text
language plpgsql stable
as $$
declare
  -- PostgreSQL's limit of a notification.
  _most_bytes constant integer := 7999;
  _attempt record;
  _record text;
begin
  -- Bytes are written in hexadecimal.
  if 2 * (
    coalesce(octet_length(stdout), 0) + coalesce(octet_length(stderr), 0) + coalesce(octet_length(compile_output), 0)
    + coalesce(octet_length(report), 0)
  ) <= _most_bytes then
    select * into _attempt from runledger.read_attempt(result.id);
    _record := row_to_json(row(
      result.id, result.status, result.verdict, result.language, result.runtime, result.exit_code, result.signal,
      result.stdout_truncated, result.stderr_truncated, result.cpu_time, result.wall_time, result.memory_peak,
      result.created_at, result.started_at, result.finished_at, result.purged_at, stdout, stderr, compile_output,
      delivery.webhook_id, delivery.state, delivery.attempts, case when delivery.state = 'pending' then delivery.due_at end,
      result.tag, result.output_encoding, result.exceeded, result.compile, report, result.rerun_of,
      _attempt.limits, _attempt.attempt, _attempt.cancel_requested_at, null, result.score, result.max_score
    )::runledger.record)::text;
  end if;
  return case when octet_length(_record) <= _most_bytes then _record else json_build_object('id', result.id)::text end;
end
$$;
comment on function runledger.describe_end is 'What the waiters of a submission are notified of: the row of runledger.read_result as JSON, or its id alone if that is too long.';
