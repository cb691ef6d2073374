-- Defines a result: a fold over the submission's events, in one pass. A condition on the id reaches the index, and so
-- one partition. runledger.closes_submission and read_outcome stand beside; runledger.apply_events is one step.

create or replace view runledger.result_from_log as
select
  stream.id,
  (received ->> 'account')::uuid as account_id,
  (received ->> 'api_key')::uuid as api_key_id,
  version,
  coalesce(outcome.status, case last_attempt_event when 'execution.started' then 'running' else 'queued' end) as status,
  outcome.verdict,
  received ->> 'language' as language,
  case when ended_by is not null or last_attempt_event = 'execution.started' then started ->> 'runtime' end as runtime,
  outcome.exit_code,
  outcome.signal,
  outcome.stdout_truncated,
  outcome.stderr_truncated,
  outcome.cpu_time,
  outcome.wall_time,
  outcome.memory_peak,
  created_at,
  case when ended_by is not null or last_attempt_event = 'execution.started' then started_at end as started_at,
  finished_at,
  purged_at,
  received ->> 'tag' as tag,
  received ->> 'output_encoding' as output_encoding,
  ended ->> 'limit' as exceeded,
  nullif(ended -> 'compile', 'null') as compile,
  (received ->> 'rerun_of')::uuid as rerun_of,
  (ended ->> 'slot_seconds')::double precision as slot_seconds
from (
  select
    e.stream_id as id,
    max(e.stream_version) as version,
    (array_agg(e.data) filter (where e.type = 'submission.received'))[1] as received,
    min(e.recorded_at) filter (where e.type = 'submission.received') as created_at,
    -- Unknown types count only for the version.
    (array_agg(e.type order by e.stream_version desc)
      filter (where e.type in ('execution.started', 'execution.interrupted')))[1] as last_attempt_event,
    (array_agg(e.data order by e.stream_version desc) filter (where e.type = 'execution.started'))[1] as started,
    (array_agg(e.recorded_at order by e.stream_version desc) filter (where e.type = 'execution.started'))[1] as started_at,
    (array_agg(e.type) filter (where runledger.closes_submission(e.type)))[1] as ended_by,
    (array_agg(e.data) filter (where runledger.closes_submission(e.type)))[1] as ended,
    min(e.recorded_at) filter (where runledger.closes_submission(e.type)) as finished_at,
    min(e.recorded_at) filter (where e.type = 'submission.purged') as purged_at
  from runledger.event e
  group by e.stream_id
) stream
left join lateral runledger.read_outcome(ended_by, ended) outcome on ended_by is not null
where received is not null;
comment on view runledger.result_from_log is 'Every result as its events say it is. The table runledger.result caches it.';
