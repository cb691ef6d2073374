create or replace view audit.execution as
select
  stream_id as submission_id,
  (data ->> 'attempt')::integer as attempt,
  (data ->> 'worker')::uuid as worker_id,
  data ->> 'host' as host,
  data ->> 'runtime' as runtime,
  data -> 'limits' as limits,
  data -> 'isolation' as isolation,
  recorded_at as started_at,
  ended_by,
  ended_at,
  ended_data ->> 'verdict' as verdict,
  ended_data -> 'compile' as compile,
  ended_data -> 'run' as run,
  ended_data ->> 'reason' as interrupted_because,
  (ended_data ->> 'slot_seconds')::double precision as slot_seconds
from (
  select
    e.stream_id, e.type, e.data, e.recorded_at,
    lead(e.type) over stream as ended_by,
    lead(e.recorded_at) over stream as ended_at,
    lead(e.data) over stream as ended_data
  from runledger.event e
  -- This event requests the end of an attempt and does not end it.
  where e.type <> 'submission.cancel_requested'
  window stream as (partition by e.stream_id order by e.stream_version)
) chained
where type = 'execution.started';
comment on view audit.execution is 'One row for each attempt: its worker, limits, isolation and result. slot_seconds: how long the attempt had a slot, by its worker''s clock; null when the attempt has no result, or its worker''s release does not report it.';
