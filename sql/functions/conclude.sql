-- The end of submissions: what an attempt came to goes into the log, and all that follows from an end goes with it, in one
-- commit. Notifying who waits is the caller's, after the commit: NOTIFY holds a lock of the whole cluster until its
-- transaction is on disk, so commits with one queue up.
--
-- All that changes a submission locks its pending row first, several in the order of their ids: so nothing comes between what
-- is read of a stream and what is appended to it. A key is locked after that, by an end that makes room for its next one.

create or replace function runledger.conclude(items jsonb)
returns table (refusal text, waiters text[], notification text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  -- Only partitions between the first and the last are looked into.
  _ids uuid[] := array(
    select (item ->> 'submission_id')::uuid from jsonb_array_elements(conclude.items) item order by 1
  );
  _first constant uuid := _ids[1];
  _last constant uuid := _ids[cardinality(_ids)];
  _refusals text[];
  _events runledger.new_event[];
  _ended runledger.ended_submission[];
begin
  perform from runledger.pending p where p.submission_id = any (_ids) order by p.submission_id for update;
  select
    array_agg(found.refusal order by found.n),
    array_agg(
      row(
        found.submission_id, found.version, found.type, found.schema_version,
        case found.type when 'submission.cancelled' then found.data - 'verdict' else found.data end, found.metadata,
        found.previous_hash
      )::runledger.new_event
      order by found.submission_id
    ) filter (where found.refusal is null)
  into _refusals, _events
  from (
    select
      item.*,
      -- Asked for, its end is a cancellation, however the program ended.
      item.started_version + case when next.type is null then 1 else 2 end as version,
      case when next.type is null then 'execution.completed' else 'submission.cancelled' end as type,
      coalesce(next.hash, started.hash) as previous_hash,
      case
        -- Starts are not waited for on disk: a crash may have given this version to another attempt.
        when started.hash is null then 'start_lost'
        when next.type = 'execution.completed' or asked_for.type = 'submission.cancelled' and not asked_for.data ? 'lost'
          then 'stored'
        when next.type <> 'submission.cancel_requested' or asked_for.type is not null then 'superseded'
        when next.type is null and item.data ->> 'verdict' is null then 'no_verdict'
      end as refusal
    from rows from (
      jsonb_to_recordset(conclude.items) as (
        submission_id uuid, started_version integer, run text, schema_version integer, data jsonb, metadata jsonb
      )
    ) with ordinality item (submission_id, started_version, run, schema_version, data, metadata, n)
    left join runledger.event started
      on started.stream_id = item.submission_id and started.stream_version = item.started_version
        and started.stream_id between _first and _last
        and (item.run is null or started.type = 'execution.started' and started.data ->> 'run' = item.run)
    left join runledger.event next
      on next.stream_id = item.submission_id and next.stream_version = item.started_version + 1
        and next.stream_id between _first and _last
    left join runledger.event asked_for
      on asked_for.stream_id = item.submission_id and asked_for.stream_version = item.started_version + 2
        and asked_for.stream_id between _first and _last and next.type = 'submission.cancel_requested'
  ) found;

  select array_agg(ended) into _ended from runledger.end_submissions(_events) ended;
  update runledger.body b
  set stdout = decode(item.stdout, 'base64'), stderr = decode(item.stderr, 'base64'),
    compile_output = decode(item.compile_output, 'base64'), report = decode(item.report, 'base64')
  from rows from (
    jsonb_to_recordset(conclude.items) as (
      submission_id uuid, stdout text, stderr text, compile_output text, report text
    )
  ) with ordinality item (submission_id, stdout, stderr, compile_output, report, n)
  join unnest(_ended) ended on ended.submission_id = item.submission_id
  where b.submission_id = item.submission_id and b.submission_id between _first and _last
    -- Another end of the same submission may have been refused.
    and _refusals[item.n] is null;
  return query
    select
      coalesce(_refusals[item.n], case when ended.submission_id is null then 'superseded' end),
      case when _refusals[item.n] is null then ended.waiters end,
      case when _refusals[item.n] is null and ended.waiters is not null then runledger.describe_end(ended.submission_id) end
    from jsonb_array_elements(conclude.items) with ordinality item (value, n)
    left join unnest(_ended) ended on ended.submission_id = (item.value ->> 'submission_id')::uuid
    order by item.n;
end
$$;
comment on function runledger.conclude is 'Ends the attempts of items, an array of objects: submission_id, started_version (of its execution.started), run (as that names it; null: any), schema_version and data of the event, metadata, and in base64 or null stdout, stderr, compile_output, report. Appends execution.completed to each; or, where its end was asked for, submission.cancelled with the same data but the verdict. One row an item, in their order. refusal: null, or why nothing was written of it. stored: an earlier call with the same end was. superseded: the attempt was given up, its result is to be dropped. start_lost: a crash of the server has forgotten the start, the submission is to be started again. no_verdict: data has none, and nobody asked for the end. waiters: channels to be sent notification after the commit; null: nobody waits.';

create or replace function runledger.end_submissions(events runledger.new_event[])
returns setof runledger.ended_submission
language plpgsql set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  _recorded_at constant timestamptz := clock_timestamp();
  _ids uuid[];
  _gone runledger.pending[];
  _make_room boolean;
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
  )
  select array_agg(appended.stream_id) into _ids from appended;
  if _ids is null then
    return;
  end if;
  perform runledger.apply_events(
    case
      when cardinality(_ids) = cardinality(end_submissions.events) then end_submissions.events
      else array(select e from unnest(end_submissions.events) e where e.stream_id = any (_ids))
    end,
    _recorded_at
  );
  with gone as (
    delete from runledger.pending p
    using runledger.api_key k, runledger.tier
    where p.submission_id = any (_ids) and k.id = p.api_key_id and tier.name = k.tier
    returning p, p.admitted and tier.concurrent_executions is not null as makes_room
  )
  select
    array_agg(gone.p),
    -- What is pending may have been removed by hand.
    count(*) < cardinality(_ids) or bool_or(gone.makes_room)
  into _gone, _make_room
  from gone;
  if _make_room then
    perform runledger.admit_waiting(limited.api_key_id)
    from (select distinct r.api_key_id from runledger.result r where r.id = any (_ids) order by r.api_key_id) limited;
  end if;

  for _webhook_id in
    update runledger.delivery set state = 'pending', due_at = now()
    where delivery.submission_id = any (_ids) and delivery.state = 'waiting'
    returning delivery.webhook_id
  loop
    perform job.enqueue_deliver(_webhook_id, now());
  end loop;

  return query
    select ended.id, gone.waiters
    from unnest(_ids) ended (id)
    left join unnest(_gone) gone on gone.submission_id = ended.id;
end
$$;
comment on function runledger.end_submissions is 'Appends the events, each the end of a submission whose pending row is locked, and does what follows from an end: the result, the webhook''s job, the key''s next submission. Returns those that ended, with the channels of who waits; where another event stands already, nothing is written.';

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
