-- Reads submissions and their live output for callers, and registers who is notified. Live output: web processes say which
-- submissions are watched, workers publish the output, web processes read it. These calls do not wait for the disk, because a
-- crash empties both tables and both sides then start again.

create or replace function runledger.read_result(submission_id uuid, account_id uuid)
returns setof runledger.submission_answer
-- Not SQL: because of the partitions, PostgreSQL would plan it on every call, which takes four times as long as running it.
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select
      r.id, r.status, r.verdict, r.language, r.runtime, r.exit_code, r.signal, r.stdout_truncated, r.stderr_truncated,
      r.cpu_time, r.wall_time, r.memory_peak, r.created_at, r.started_at, r.finished_at, r.purged_at,
      o.stdout, o.stderr, o.compile_output,
      d.webhook_id, d.state, d.attempts, case when d.state = 'pending' then d.due_at end,
      r.tag, r.output_encoding, r.exceeded, r.compile, o.report, r.rerun_of,
      started.limits, started.attempt, requested.recorded_at,
      case when d.attempts > 0 and d.state <> 'delivered' then (
        select e.data - 'submission' from runledger.event e
        where e.stream_id = d.webhook_id and e.type = 'webhook.attempt_failed'
        order by e.stream_version desc limit 1
      ) end,
      r.score, r.max_score
    from runledger.submission r
    left join runledger.output o on o.submission_id = read_result.submission_id
    left join runledger.delivery d on d.submission_id = read_result.submission_id
    left join lateral (
      select e.data -> 'limits' as limits, (e.data ->> 'attempt')::integer as attempt from runledger.event e
      where e.stream_id = read_result.submission_id and e.type = 'execution.started'
      order by e.stream_version desc limit 1
    ) started on true
    left join lateral (
      select e.recorded_at from runledger.event e
      where e.stream_id = read_result.submission_id and e.type = 'submission.cancel_requested'
      order by e.stream_version desc limit 1
    ) requested on true
    where r.id = read_result.submission_id and r.account_id = read_result.account_id;
end
$$;
comment on function runledger.read_result is 'Returns one submission of an account with its outputs (null once purged), its last attempt and its webhook; no row when the account has no such submission.';

create or replace function runledger.await_submissions(submission_ids uuid[], waiter text) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.pending set waiters = array_append(pending.waiters, await_submissions.waiter)
  where pending.submission_id in (
    select p.submission_id from runledger.pending p
    where p.submission_id = any (await_submissions.submission_ids)
      and await_submissions.waiter <> all (coalesce(p.waiters, '{}'))
    order by p.submission_id for update
  )
$$;
comment on function runledger.await_submissions is 'Requests a notification on the channel waiter when each of the submissions has ended. Read their state after this call, not before.';

create or replace function runledger.watch_submissions(submissions uuid[], channel text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into runledger.watch (submission_id, channel, expires_at)
  select distinct given.id, watch_submissions.channel, clock_timestamp() + interval '60 seconds'
  from unnest(watch_submissions.submissions) given (id)
  order by given.id -- every process locks in the same order
  on conflict on constraint watch_pkey do update set expires_at = excluded.expires_at;
  perform pg_notify('runledger_watch', given.id::text) from unnest(watch_submissions.submissions) given (id);
  perform runledger.await_submissions(watch_submissions.submissions, watch_submissions.channel);
end
$$;
comment on function runledger.watch_submissions is 'For the next minute, workers publish the output of these submissions while it is written, and `channel` is notified, with the id, of new output and of the end (runledger.await_submissions).';

create or replace function runledger.publish_output(runs jsonb)
returns table (run text, next_seq integer, is_base64 boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _item record;
begin
  perform set_config('synchronous_commit', 'off', true);
  for _item in
    select item.*, r.output_encoding = 'base64' as is_base64, (item.events -> 0 ->> 'seq')::integer as first
    from jsonb_to_recordset(publish_output.runs) item (submission uuid, run text, events jsonb)
    left join runledger.pending r on r.submission_id = item.submission
    order by item.submission
  loop
    run := _item.run;
    is_base64 := coalesce(_item.is_base64, false);
    next_seq := null;
    if exists (select from runledger.watch w where w.submission_id = _item.submission and w.expires_at > now()) then
      select coalesce(max(o.seq), 0) + 1 into next_seq
      from runledger.live_output o where o.submission_id = _item.submission and o.run = _item.run;
      if _item.first = next_seq then
        if next_seq = 1 then
          delete from runledger.live_output o where o.submission_id = _item.submission and o.run <> _item.run;
        end if;
        insert into runledger.live_output (submission_id, run, seq, id, event, data)
        select _item.submission, _item.run, e.seq, e.id, e.event, e.data
        from jsonb_to_recordset(_item.events) e (seq integer, id text, event text, data text);
        next_seq := next_seq + jsonb_array_length(_item.events);
      end if;
      perform pg_notify(w.channel, jsonb_build_object('id', _item.submission)::text)
      from runledger.watch w where w.submission_id = _item.submission and w.expires_at > now();
    end if;
    return next;
  end loop;
end
$$;
comment on function runledger.publish_output is 'Publishes further events of runs. runs: an array of objects: submission, run, and events {seq, id, event, data}, which may be empty. Returns for each run the next seq; events that start with another seq, as after a crash, are dropped. `next_seq` is null and nothing is stored when nobody watches.';

create or replace function runledger.read_live_output(asked jsonb)
returns table (place integer, status text, is_final boolean, run text, event_id text, event text, data text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select item.place, r.status, r.finished_at is not null, attempt.run, live.id, live.event, live.data
  from jsonb_to_recordset(read_live_output.asked) item (place integer, id uuid, run text, seq integer)
  left join runledger.submission r on r.id = item.id
  left join lateral (
    select e.data ->> 'run' as run
    from runledger.event e
    where e.stream_id = item.id and e.type = 'execution.started'
    order by e.stream_version desc limit 1
  ) attempt on true
  left join lateral (
    select o.*, sum(octet_length(o.data)) over (order by o.seq) - octet_length(o.data) as bytes_before
    from (
      select l.seq, l.id, l.event, l.data from runledger.live_output l
      where r.status = 'running' and l.submission_id = item.id and l.run = attempt.run
        and l.seq > case when attempt.run = item.run then item.seq else 0 end
      order by l.seq limit 100
    ) o
  ) live on live.bytes_before < 131072
  order by item.place, live.seq;
end
$$;
comment on function runledger.read_live_output is 'Returns for each item of `asked` (place is its number) the submission''s status (null when there is none), its last attempt and, while it runs, the next events after `seq` of `run`, or from the beginning of the last attempt if that is another run. One row for each event, or one row without an event. The caller must have checked whose submissions they are.';

create or replace function runledger.forget_output(submission_id uuid, run text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from runledger.live_output o
  where o.submission_id = forget_output.submission_id and o.run = forget_output.run;
end
$$;
comment on function runledger.forget_output is 'Removes the events of one attempt at its end, because the result has them or another attempt starts.';
