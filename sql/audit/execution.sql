create or replace view audit.execution as
select
  started.stream_id as submission_id,
  (started.data ->> 'attempt')::integer as attempt,
  (started.data ->> 'worker')::uuid as worker_id,
  started.data ->> 'host' as host,
  started.data ->> 'runtime' as runtime,
  started.data -> 'limits' as limits,
  started.data -> 'isolation' as isolation,
  started.recorded_at as started_at,
  ended.type as ended_by,
  ended.recorded_at as ended_at,
  ended.data ->> 'verdict' as verdict,
  ended.data -> 'compile' as compile,
  ended.data -> 'run' as run,
  ended.data ->> 'reason' as interrupted_because
from runledger.event started
left join runledger.event ended
  on ended.stream_id = started.stream_id and ended.stream_version = started.stream_version + 1
where started.type = 'execution.started';
comment on view audit.execution is 'One row an attempt: which worker ran it, under which limits and isolation, and how it ended.';
