-- Reads the events since the last call, for metrics. Positions are not in commit order, so the cursor reads only transactions
-- that have ended.

create or replace function runledger.read_progress(since xid8, since_position bigint)
returns table (
  until xid8, begun xid8, newest_position bigint, type text, language text, verdict text, reason text, outcome text,
  attempt_seconds double precision, queue_seconds double precision, compile_seconds double precision,
  run_seconds double precision, total_seconds double precision, blobs_read integer, blobs_fetched integer
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with horizon as (
    select
      pg_snapshot_xmin(pg_current_snapshot()) as until,
      pg_snapshot_xmax(pg_current_snapshot()) as begun,
      coalesce((select max(e.position) from runledger.event e), 0) as newest_position
  ),
  recent as (
    select e.*
    from runledger.event e, horizon
    where e.position > read_progress.since_position
      and e.transaction_id >= read_progress.since
      and e.transaction_id < horizon.until
      and (e.type like 'execution.%' or e.type like 'webhook.%' or e.type = 'submission.cancelled')
      and e.type <> 'execution.started'
  )
  select
    horizon.until,
    horizon.begun,
    horizon.newest_position,
    recent.type,
    received.data ->> 'language',
    case recent.type
      -- IE of a completed execution is a failure of its own checker, not of the service.
      when 'execution.completed' then case recent.data ->> 'verdict' when 'IE' then 'checker_failed' else recent.data ->> 'verdict' end
      when 'execution.abandoned' then 'IE'
      when 'submission.cancelled' then 'cancelled' -- not a verdict, but counted as one
    end,
    recent.data ->> 'reason',
    recent.data ->> 'outcome',
    (recent.data ->> 'duration_seconds')::double precision,
    extract(epoch from started.recorded_at - received.recorded_at)::double precision,
    (timed.data #>> '{compile,wall_time}')::double precision,
    (timed.data #>> '{run,wall_time}')::double precision,
    extract(epoch from timed.recorded_at - received.recorded_at)::double precision,
    (recent.data #>> '{blobs,read}')::integer,
    (recent.data #>> '{blobs,fetched}')::integer
  from horizon
  left join recent on true
  -- The duration of a cancelled submission depends on its caller, so it is left out.
  left join lateral (
    select recent.data, recent.recorded_at where recent.type <> 'submission.cancelled'
  ) timed on true
  left join runledger.event received
    on received.stream_id = recent.stream_id and received.stream_version = 1 and received.type = 'submission.received'
  left join runledger.event started
    on recent.type = 'execution.completed'
    and started.stream_id = recent.stream_id and started.stream_version = recent.stream_version - 1
$$;
comment on function runledger.read_progress is 'Returns events of ended attempts, cancelled submissions and webhooks, from transactions since `since` and before `until`; at least one row, whose type is null when there are none. In the next call pass `until` as since, and as since_position the newest_position of an earlier call whose `begun` is at most that `until`.';
