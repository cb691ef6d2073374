-- The definition of a result: a fold of the submission's stream.

create or replace view runledger.result_from_log as
select
  received.stream_id as id,
  (received.data ->> 'account')::uuid as account_id,
  (received.data ->> 'api_key')::uuid as api_key_id,
  head.stream_version as version,
  case
    when ended.type = 'execution.completed' then 'completed'
    when ended.type = 'execution.abandoned' then 'failed'
    when head.type = 'execution.started' then 'running'
    else 'queued'
  end as status,
  case ended.type
    when 'execution.completed' then ended.data ->> 'verdict'
    when 'execution.abandoned' then 'IE'
  end as verdict,
  received.data ->> 'language' as language,
  started.data ->> 'runtime' as runtime,
  (ended.data ->> 'exit_code')::integer as exit_code,
  ended.data ->> 'signal' as signal,
  case when ended.type is not null then coalesce((ended.data #>> '{stdout,truncated}')::boolean, false) end as stdout_truncated,
  case when ended.type is not null then coalesce((ended.data #>> '{stderr,truncated}')::boolean, false) end as stderr_truncated,
  case when ended.type is not null then coalesce((ended.data #>> '{run,cpu_seconds}')::double precision, 0) end as cpu_time,
  case when ended.type is not null then coalesce((ended.data #>> '{run,wall_seconds}')::double precision, 0) end as wall_time,
  case when ended.type is not null then coalesce((ended.data #>> '{run,memory_peak_bytes}')::bigint, 0) end as memory_peak,
  received.recorded_at as created_at,
  started.recorded_at as started_at,
  ended.recorded_at as finished_at
from runledger.event received
cross join lateral (
  select e.stream_version, e.type
  from runledger.event e
  where e.stream_id = received.stream_id and e.type <> 'submission.purged'
  order by e.stream_version desc limit 1
) head
left join lateral (
  select e.data, e.recorded_at
  from runledger.event e
  where e.stream_id = received.stream_id and e.type = 'execution.started'
    and head.type <> 'execution.interrupted'
  order by e.stream_version desc limit 1
) started on true
left join lateral (
  select e.type, e.data, e.recorded_at
  from runledger.event e
  where e.stream_id = received.stream_id and e.type in ('execution.completed', 'execution.abandoned')
) ended on true
where received.type = 'submission.received';
comment on view runledger.result_from_log is 'Every result as its events say it is. The table runledger.result caches it.';
