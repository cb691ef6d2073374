-- The state of submissions, and the folds of the log that define it. A finished submission has a row in runledger.result, an
-- unfinished one in runledger.pending. runledger.submission shows both.

-- The index event_one_terminal lists the same types.

create or replace function runledger.closes_submission(type text) returns boolean
-- Has no settings, so that PostgreSQL inlines it and finds the index.
language sql immutable
as $$
  select type in ('execution.completed', 'execution.abandoned', 'submission.cancelled')
$$;
comment on function runledger.closes_submission is 'True for the types of events that end a submission.';

-- Used by submission_from_log and runledger.end_submissions.

create or replace function runledger.read_outcome(type text, data jsonb)
returns table (
  status text, verdict text, exit_code integer, signal text, stdout_truncated boolean, stderr_truncated boolean,
  cpu_time double precision, wall_time double precision, memory_peak bigint
)
-- Has no settings, so that PostgreSQL inlines it.
language sql immutable
as $$
  select
    case type when 'execution.completed' then 'completed' when 'submission.cancelled' then 'cancelled' else 'failed' end,
    case type when 'execution.completed' then data ->> 'verdict' when 'execution.abandoned' then 'IE' end,
    (data ->> 'exit_code')::integer,
    data ->> 'signal',
    coalesce((data #>> '{stdout,truncated}')::boolean, false),
    coalesce((data #>> '{stderr,truncated}')::boolean, false),
    coalesce((data #>> '{run,cpu_time}')::double precision, 0),
    coalesce((data #>> '{run,wall_time}')::double precision, 0),
    coalesce((data #>> '{run,memory_peak}')::bigint, 0)
$$;
comment on function runledger.read_outcome is 'Returns one row: the result columns from the data of execution.completed, execution.abandoned or submission.cancelled.';

create or replace function runledger.read_requirements(received jsonb) returns jsonb
-- Not SQL: most submissions have no requirements, and this returns for them without a query.
language plpgsql immutable
as $$
declare
  _keys constant text[] := '{limits,demands,checker_language,detail}';
begin
  if not received ?| _keys then
    return null;
  end if;
  return (select jsonb_object_agg(key, value) from jsonb_each(received) where key = any (_keys));
end
$$;
comment on function runledger.read_requirements is 'Returns limits, demands, checker_language and detail of a submission.received; null when it has none of them.';

-- Defines the state of submissions: a fold over each submission's events, in one pass. A condition on the id reaches the index,
-- and so one partition only. runledger.result_from_log shows the finished submissions, runledger.pending_from_log the others.

create or replace view runledger.submission_from_log as
select
  stream.id,
  (received ->> 'account')::uuid as account_id,
  (received ->> 'api_key')::uuid as api_key_id,
  version,
  coalesce(outcome.status, case when is_running then 'running' else 'queued' end) as status,
  outcome.verdict,
  received ->> 'language' as language,
  case when ended_by is not null or is_running then started ->> 'runtime' end as runtime,
  outcome.exit_code,
  outcome.signal,
  outcome.stdout_truncated,
  outcome.stderr_truncated,
  outcome.cpu_time,
  outcome.wall_time,
  outcome.memory_peak,
  created_at,
  case when ended_by is not null or is_running then started_at end as started_at,
  finished_at,
  purged_at,
  received ->> 'tag' as tag,
  received ->> 'output_encoding' as output_encoding,
  ended ->> 'limit' as exceeded,
  nullif(ended -> 'compile', 'null') as compile,
  (received ->> 'rerun_of')::uuid as rerun_of,
  (ended ->> 'slot_seconds')::double precision as slot_seconds,
  (ended ->> 'score')::double precision as score,
  (ended ->> 'max_score')::double precision as max_score
from (
  select
    e.stream_id as id,
    max(e.stream_version) as version,
    (array_agg(e.data) filter (where e.type = 'submission.received'))[1] as received,
    min(e.recorded_at) filter (where e.type = 'submission.received') as created_at,
    -- Events of unknown types change only the version.
    (array_agg(e.type order by e.stream_version desc)
      filter (where e.type in ('execution.started', 'execution.interrupted')))[1] = 'execution.started' as is_running,
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
comment on view runledger.submission_from_log is 'Every submission according to its events, finished or not: the rows that runledger.submission shows.';

create or replace view runledger.result_from_log as
select * from runledger.submission_from_log where finished_at is not null;
comment on view runledger.result_from_log is 'Every finished submission according to its events. The table runledger.result caches this view.';

create or replace view runledger.pending_from_log as
select
  received.stream_id as submission_id,
  (received.data ->> 'account')::uuid as account_id,
  (received.data ->> 'api_key')::uuid as api_key_id,
  received.data ->> 'language' as language,
  coalesce(received.data ->> 'priority' = 'low', false) as is_low,
  runledger.read_requirements(received.data) as requires,
  stream.version,
  stream.hash,
  coalesce(stream.last_type in ('execution.started', 'submission.cancel_requested'), false) as is_running,
  coalesce(stream.last_type = 'submission.cancel_requested', false) as is_cancelled,
  stream.attempts,
  stream.started ->> 'run' as run,
  (stream.started ->> 'worker')::uuid as worker_id,
  stream.started ->> 'runtime' as runtime,
  stream.started -> 'limits' as limits,
  received.recorded_at as created_at,
  stream.started_at,
  received.data ->> 'tag' as tag,
  received.data ->> 'output_encoding' as output_encoding,
  (received.data ->> 'rerun_of')::uuid as rerun_of,
  (received.data ->> 'batch')::uuid as batch_id
from runledger.event received
cross join lateral (
  select
    max(e.stream_version) as version,
    (array_agg(e.hash order by e.stream_version desc))[1] as hash,
    (count(*) filter (where e.type = 'execution.started'))::integer as attempts,
    -- Events of unknown types change only version and hash.
    (array_agg(e.type order by e.stream_version desc) filter (
      where e.type in ('execution.started', 'execution.interrupted', 'submission.cancel_requested')
    ))[1] as last_type,
    (array_agg(e.data order by e.stream_version desc) filter (where e.type = 'execution.started'))[1] as started,
    (array_agg(e.recorded_at order by e.stream_version desc) filter (where e.type = 'execution.started'))[1] as started_at
  from runledger.event e
  where e.stream_id = received.stream_id
) stream
where received.type = 'submission.received'
  and not exists (
    select from runledger.event ended
    where ended.stream_id = received.stream_id and runledger.closes_submission(ended.type)
  );
comment on view runledger.pending_from_log is 'The state of each submission that has no terminal event, according to the log. The table runledger.pending caches it, with columns that the log does not have.';

create or replace view runledger.unfinished as
select
  p.submission_id as id, p.account_id, p.api_key_id, p.version, case when p.is_running then 'running' else 'queued' end as status,
  null::text as verdict, p.language, case when p.is_running then p.runtime end as runtime, null::integer as exit_code,
  null::text as signal, null::boolean as stdout_truncated, null::boolean as stderr_truncated,
  null::double precision as cpu_time, null::double precision as wall_time, null::bigint as memory_peak, p.created_at,
  case when p.is_running then p.started_at end as started_at, null::timestamptz as finished_at, null::timestamptz as purged_at,
  p.tag, p.output_encoding, null::text as exceeded, null::jsonb as compile, p.rerun_of, null::double precision as slot_seconds,
  null::double precision as score, null::double precision as max_score
from runledger.pending p;
comment on view runledger.unfinished is 'The rows of runledger.submission that have not ended.';

create or replace view runledger.submission as
select * from runledger.unfinished
union all
select * from runledger.result;
comment on view runledger.submission is 'Every submission: the unfinished ones from runledger.pending, the finished ones from runledger.result.';

create or replace view runledger.rerun_from_log as
select
  received.stream_id as submission_id,
  (received.data ->> 'rerun_of')::uuid as rerun_of,
  received.data ->> 'campaign' as campaign
from runledger.event received
where received.type = 'submission.received' and received.data ? 'rerun_of';
comment on view runledger.rerun_from_log is 'Submissions that repeat another one, according to the log. The table runledger.rerun caches this view.';
