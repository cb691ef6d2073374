-- Ends submissions: one commit writes the result of an attempt to the log and everything that follows from the end. The waiters
-- are notified after the commit, because NOTIFY holds a lock of the whole cluster until its transaction is on disk, so that
-- commits with a NOTIFY queue up.
--
-- Every function that changes a submission first locks its pending row, several in the order of their ids. So no event is
-- appended between reading a stream and appending to it. An end that makes room for its key's next submission locks the key
-- after that.

create or replace procedure runledger.conclude_and_notify(items jsonb, inout refusals jsonb default '[]')
language plpgsql
as $$
declare
  _end record;
  _channel text;
  _channels text[] := '{}';
  _payloads text[] := '{}';
begin
  for _end in select * from runledger.conclude(conclude_and_notify.items) loop
    refusals := refusals || jsonb_build_array(_end.refusal);
    foreach _channel in array coalesce(_end.waiters, '{}') loop
      _channels := _channels || _channel;
      _payloads := _payloads || _end.notification;
    end loop;
  end loop;
  commit;
  for n in 1..cardinality(_channels) loop
    perform pg_notify(_channels[n], _payloads[n]);
  end loop;
end
$$;
comment on procedure runledger.conclude_and_notify is 'Ends attempts (runledger.conclude), commits, and then notifies the waiters: a worker''s end in one statement. Cannot run in a transaction. refusals: the refusal of each item, in their order.';

create or replace function runledger.conclude(items jsonb)
returns table (refusal text, waiters text[], notification text)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _ended runledger.ended_submission[] := runledger.end_submissions(conclude.items, true);
begin
  -- Rows may be missing or differ from the log. Items that have just ended are not ended again.
  if cardinality(_ended) is distinct from jsonb_array_length(conclude.items) and runledger.refresh_submissions(array(
    select (item ->> 'submission_id')::uuid from jsonb_array_elements(conclude.items) with ordinality given (item, n)
    where not exists (select from unnest(_ended) ended where ended.n = given.n)
  )) > 0 then
    _ended := _ended || runledger.end_submissions(conclude.items, true);
  end if;
  return query
    select
      case when ended.n is null then runledger.find_refusal(given.item) end, ended.waiters,
      case
        -- PostgreSQL takes no longer payload.
        when octet_length(ended.notification) < 8000 then ended.notification
        when ended.waiters is not null then json_build_object('id', given.item ->> 'submission_id')::text
      end
    from jsonb_array_elements(conclude.items) with ordinality given (item, n)
    left join unnest(_ended) ended on ended.n = given.n
    order by given.n;
end
$$;
comment on function runledger.conclude is 'Ends the attempts of items, an array of objects: submission_id, started_version (of its execution.started), run (of the same event; null: any), schema_version and data of the event, metadata, and in base64 or null stdout, stderr, compile_output, report. Appends execution.completed to each, or, where cancellation was requested, submission.cancelled with the same data without the verdict. Returns one row for each item, in their order. refusal: null, or why nothing was written. stored: an earlier call has written this end. superseded: the attempt was lost, so its result must be dropped. start_lost: a crash of PostgreSQL lost the start, so the submission must be started again. no_verdict: data has no verdict, and no cancellation was requested. waiters: channels to send notification to after the commit; null: none. notification: the row of runledger.read_result as JSON, or the id alone, if that is too long or the submission was cancelled.';

create or replace function runledger.find_refusal(item jsonb) returns text
language plpgsql stable
as $$
declare
  _id constant uuid := item ->> 'submission_id';
  _version constant integer := item ->> 'started_version';
  _run constant text := item ->> 'run';
begin
  return (
    select case
      -- Starts do not wait for the disk, so after a crash another attempt may have this version.
      when started.hash is null then 'start_lost'
      when next.type = 'execution.completed' or asked_for.type = 'submission.cancelled' and not asked_for.data ? 'lost'
        then 'stored'
      when next.type is null and item #>> '{data,verdict}' is null then 'no_verdict'
      else 'superseded'
    end
    from (select) nothing
    left join runledger.event started
      on started.stream_id = _id and started.stream_version = _version
        and (_run is null or started.type = 'execution.started' and started.data ->> 'run' = _run)
    left join runledger.event next on next.stream_id = _id and next.stream_version = _version + 1
    left join runledger.event asked_for
      on asked_for.stream_id = _id and asked_for.stream_version = _version + 2 and next.type = 'submission.cancel_requested'
  );
end
$$;
comment on function runledger.find_refusal is 'Returns the reason why an item of runledger.conclude ended nothing.';

create or replace function runledger.end_submissions(items jsonb, are_attempts boolean default false)
returns runledger.ended_submission[]
language plpgsql
as $$
declare
  _recorded_at constant timestamptz := clock_timestamp();
  -- Without these ids, a plan made while little was pending may start the join with all pending rows.
  _ids constant uuid[] := array(select (item ->> 'submission_id')::uuid from jsonb_array_elements(end_submissions.items) item);
  _ended runledger.ended_submission[];
  _keys uuid[];
  _webhooks uuid[];
  _batches uuid[];
  _id uuid;
begin
  if cardinality(_ids) > 1 then
    perform from runledger.pending p where p.submission_id = any (_ids) order by p.submission_id for update;
  end if;
  with item as materialized (
    select *
    from rows from (
      jsonb_to_recordset(end_submissions.items) as (
        submission_id uuid, started_version integer, run text, type text, schema_version integer, data jsonb, metadata jsonb,
        stdout text, stderr text, compile_output text, report text
      )
    ) with ordinality
  ), gone as (
    delete from runledger.pending p using item
    where p.submission_id = any (_ids) and p.submission_id = item.submission_id
      and case
        when not end_submissions.are_attempts then p.version = item.started_version
        else
          p.is_running and p.run is not distinct from coalesce(item.run, p.run)
          -- The only event between a start and its end is submission.cancel_requested.
          and p.version - p.is_cancelled::integer = item.started_version
          and (p.is_cancelled or item.data ->> 'verdict' is not null)
      end
    returning
      p.submission_id, p.account_id, p.api_key_id, p.language, p.version, p.hash, p.attempts, p.runtime, p.limits, p.created_at,
      p.started_at, p.tag, p.output_encoding, p.rerun_of, p.batch_id, p.admitted, p.waiters, item.ordinality as n,
      item.schema_version, item.metadata,
      -- A requested cancellation takes precedence over the program's result.
      case
        when not end_submissions.are_attempts then item.type when p.is_cancelled then 'submission.cancelled'
        else 'execution.completed'
      end as type,
      case when end_submissions.are_attempts and p.is_cancelled then item.data - 'verdict' else item.data end as data,
      decode(item.stdout, 'base64') as stdout, decode(item.stderr, 'base64') as stderr,
      decode(item.compile_output, 'base64') as compile_output, decode(item.report, 'base64') as report
  ), appended as (
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select
      g.submission_id, g.version + 1, g.type, g.schema_version, g.data, g.metadata, _recorded_at,
      runledger.hash_event(
        g.hash, g.submission_id, g.version + 1, g.type, g.schema_version, g.data, g.metadata, _recorded_at
      )
    from gone g
    on conflict do nothing
    returning stream_id
  ), stored as (
    insert into runledger.result (
      id, account_id, api_key_id, version, status, verdict, language, runtime, exit_code, signal, stdout_truncated,
      stderr_truncated, cpu_time, wall_time, memory_peak, created_at, started_at, finished_at, tag, output_encoding, exceeded,
      compile, rerun_of, slot_seconds, score, max_score
    )
    select
      g.submission_id, g.account_id, g.api_key_id, g.version + 1, outcome.status, outcome.verdict, g.language, g.runtime,
      outcome.exit_code, outcome.signal, outcome.stdout_truncated, outcome.stderr_truncated, outcome.cpu_time,
      outcome.wall_time, outcome.memory_peak, g.created_at, g.started_at, _recorded_at, g.tag, g.output_encoding,
      g.data ->> 'limit', nullif(g.data -> 'compile', 'null'), g.rerun_of, (g.data ->> 'slot_seconds')::double precision,
      (g.data ->> 'score')::double precision, (g.data ->> 'max_score')::double precision
    from gone g
    cross join lateral runledger.read_outcome(g.type, g.data) outcome
    on conflict do nothing
    returning
      id, status, verdict, exit_code, signal, stdout_truncated, stderr_truncated, cpu_time, wall_time, memory_peak, finished_at,
      exceeded, compile, score, max_score
  ), kept as (
    insert into runledger.output (submission_id, stdout, stderr, compile_output, report)
    select g.submission_id, g.stdout, g.stderr, g.compile_output, g.report
    from appended
    join gone g on g.submission_id = appended.stream_id
    where end_submissions.are_attempts
  ), due as (
    update runledger.delivery d set state = 'pending', due_at = now()
    from appended where d.submission_id = appended.stream_id and d.state = 'waiting'
    returning d.submission_id, d.webhook_id, d.state, d.attempts, d.due_at
  )
  select
    array_agg(row(
      g.n, g.waiters,
      case
        when g.waiters is not null and end_submissions.are_attempts and stored.status <> 'cancelled'
          -- JSON has each byte as two hexadecimal digits.
          and coalesce(octet_length(g.stdout), 0) + coalesce(octet_length(g.stderr), 0)
            + coalesce(octet_length(g.compile_output), 0) + coalesce(octet_length(g.report), 0) < 4000
        then
          row_to_json(row(
            g.submission_id, stored.status, stored.verdict, g.language, g.runtime, stored.exit_code, stored.signal,
            stored.stdout_truncated, stored.stderr_truncated, stored.cpu_time, stored.wall_time, stored.memory_peak,
            g.created_at, g.started_at, stored.finished_at, null, g.stdout, g.stderr, g.compile_output, due.webhook_id, due.state,
            due.attempts, due.due_at, g.tag, g.output_encoding, stored.exceeded, stored.compile, g.report, g.rerun_of, g.limits,
            g.attempts, null, null, stored.score, stored.max_score
          )::runledger.submission_answer)::text
      end
    )::runledger.ended_submission) filter (where appended.stream_id is not null),
    array_agg(distinct g.api_key_id) filter (where g.admitted and (
      exists (
        select from runledger.api_key k join runledger.tier on tier.name = k.tier
        where k.id = g.api_key_id and tier.concurrent_executions is not null
      )
      -- Of a key that was moved to an unlimited tier very many may still wait.
      or exists (select from runledger.pending waiting where waiting.api_key_id = g.api_key_id and not waiting.admitted)
    )),
    array_agg(due.webhook_id) filter (where due.webhook_id is not null),
    array_agg(distinct g.batch_id) filter (where g.batch_id is not null)
  into _ended, _keys, _webhooks, _batches
  from gone g
  left join appended on appended.stream_id = g.submission_id
  left join stored on stored.id = g.submission_id
  left join due on due.submission_id = g.submission_id;
  if _batches is not null then
    -- From here to their commit, ends of one batch take turns, so that the last one sees that no member is left.
    perform from runledger.delivery d where d.submission_id = any (_batches) order by d.submission_id for update;
    with due as (
      update runledger.delivery d set state = 'pending', due_at = now()
      where d.submission_id = any (_batches) and d.state = 'waiting'
        and case
          -- offset 0 makes this one look-up instead of a hash of all pending rows.
          when exists (select from runledger.pending p where p.batch_id = d.submission_id offset 0) then false
          -- Rows may have been edited by hand: the log decides.
          else (
            select derived.state from runledger.delivery_from_log derived where derived.submission_id = d.submission_id
          ) = 'pending'
        end
      returning d.webhook_id
    )
    select _webhooks || array_agg(due.webhook_id) into _webhooks from due;
  end if;
  foreach _id in array coalesce(_keys, '{}') loop
    -- Of keys whose limit has grown very many may wait. All keys together get ten for each end; of one call with 32 ends
    -- at most, each key then gets one for each of its own. The reconciler admits the others.
    perform runledger.admit_waiting(_id, 10 * cardinality(_ids) / cardinality(_keys));
  end loop;
  if _webhooks is not null then
    perform job.enqueue_deliveries(_webhooks, now());
  end if;
  return _ended;
end
$$;
comment on function runledger.end_submissions is 'Ends submissions: appends the event of each item and does what follows from an end: result and outputs, the jobs of webhooks, the key''s next submission. items: as in runledger.conclude; unless they are attempts, an item also has the type of its event, and started_version is the submission''s version. Returns the submissions that ended. Where a row differs from the log, its submission does not end, and the caller must repair the row (runledger.refresh_submissions).';
