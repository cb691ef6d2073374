create or replace view audit.submission as
select
  r.id,
  account.name as account,
  k.label as api_key,
  r.language,
  r.status,
  r.verdict,
  r.exit_code,
  r.signal,
  r.cpu_time,
  r.wall_time,
  r.memory_peak,
  r.runtime,
  r.created_at,
  r.started_at,
  r.finished_at,
  r.purged_at,
  received.data #>> '{code,sha256}' as code_sha256,
  (received.data #>> '{code,bytes}')::integer as code_bytes,
  received.metadata ->> 'request' as request,
  r.tag,
  r.exceeded as limit_exceeded,
  coalesce(received.data ->> 'priority', 'normal') as priority
from runledger.submission_from_log r
-- Not a join, because a join might read the first event of every stream.
cross join lateral (
  select e.data, e.metadata from runledger.event e where e.stream_id = r.id and e.stream_version = 1 limit 1
) received
left join runledger.account on account.id = r.account_id
left join runledger.api_key k on k.id = r.api_key_id;
comment on view audit.submission is 'One row for each submission, computed from the log: its account and key, and its result. Times in seconds, memory in bytes.';
