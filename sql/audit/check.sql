-- What is wrong: each of these views is empty when all is well. audit.invariant has their findings, too.

create or replace view audit.broken_chain as
select position, stream_id, stream_version, type, recorded_at
from (
  select
    e.*,
    lag(e.stream_version, 1, 0) over stream as previous_version,
    lag(e.hash) over stream as previous_hash
  from runledger.event e
  window stream as (partition by e.stream_id order by e.stream_version)
) chained
where stream_version <> previous_version + 1
  or hash is distinct from runledger.hash_event(
    previous_hash, stream_id, stream_version, type, schema_version, data, metadata, recorded_at
  );
comment on view audit.broken_chain is 'Events that were changed after they were written, or whose predecessor was changed or removed. Empty when nobody did either. A condition on stream_id limits how much of the log is read.';

create or replace view audit.altered_body as
select b.submission_id, altered.part, altered.logged_sha256, encode(altered.sha256, 'hex') as sha256
from runledger.body b
left join runledger.output o on o.submission_id = b.submission_id
join runledger.event received on received.stream_id = b.submission_id and received.stream_version = 1
left join runledger.event ended on ended.stream_id = b.submission_id and runledger.closes_submission(ended.type)
cross join lateral (
  values
    ('code', sha256(b.code), received.data #>> '{code,sha256}'),
    ('stdin', sha256(b.stdin), received.data #>> '{stdin,sha256}'),
    ('expected_stdout', sha256(b.expected_stdout), received.data #>> '{expected_stdout,sha256}'),
    ('detail', sha256(b.detail), received.data #>> '{detail,sha256}'),
    ('blobs', sha256(b.blobs), received.data #>> '{blob_list,sha256}'),
    ('report', sha256(o.report), ended.data #>> '{report,sha256}'),
    ('stdout', sha256(o.stdout), ended.data #>> '{stdout,sha256}'),
    ('stderr', sha256(o.stderr), ended.data #>> '{stderr,sha256}'),
    ('compile_output', sha256(o.compile_output), ended.data #>> '{compile_output,sha256}')
) altered (part, sha256, logged_sha256)
where encode(altered.sha256, 'hex') is distinct from altered.logged_sha256;
comment on view audit.altered_body is 'Code, inputs, outputs and other bodies whose bytes do not have the hash that the log has. Empty when nobody changed them.';

-- For each table: rows that are missing or differ from the log, then rows that the log does not have. These are two queries,
-- because a condition on the id does not reach the indexes on both sides of a full join.

create or replace view audit.drift as
select 'result' as projection, derived.id, to_jsonb(cached) as cached, to_jsonb(derived) as in_the_log
from runledger.result_from_log derived
left join runledger.result cached on cached.id = derived.id
where cached is distinct from derived
union all
select 'result', cached.id, to_jsonb(cached), null
from runledger.result cached
where not exists (
  select from runledger.event ended
  where ended.stream_id = cached.id and runledger.closes_submission(ended.type)
)
union all
select 'pending', derived.submission_id, to_jsonb(cached) - 'waiters', to_jsonb(derived)
from runledger.pending_from_log derived
left join runledger.pending cached on cached.submission_id = derived.submission_id
where to_jsonb(cached) - '{admitted,position,waiters,is_parked}'::text[] is distinct from to_jsonb(derived)
union all
select 'pending', cached.submission_id, to_jsonb(cached) - 'waiters', null
from runledger.pending cached
where not exists (
  select from runledger.pending_from_log derived where derived.submission_id = cached.submission_id
)
union all
select 'delivery', derived.submission_id, to_jsonb(cached) - 'secret' - 'url', to_jsonb(derived)
from runledger.delivery_from_log derived
left join runledger.delivery cached on cached.submission_id = derived.submission_id
where (cached.webhook_id, cached.attempts, cached.state) is distinct from (derived.webhook_id, derived.attempts, derived.state)
union all
select 'delivery', cached.submission_id, to_jsonb(cached) - 'secret' - 'url', null
from runledger.delivery cached
where not exists (
  select from runledger.delivery_from_log derived where derived.submission_id = cached.submission_id
)
union all
select 'rerun', derived.submission_id, to_jsonb(cached), to_jsonb(derived)
from runledger.rerun_from_log derived
left join runledger.rerun cached on cached.submission_id = derived.submission_id
where (cached.rerun_of, cached.campaign) is distinct from (derived.rerun_of, derived.campaign)
union all
select 'rerun', cached.submission_id, to_jsonb(cached), null
from runledger.rerun cached
where not exists (
  select from runledger.rerun_from_log derived where derived.submission_id = cached.submission_id
);
comment on view audit.drift is 'Rows of a table that differ from the log, which the table is made from: the row in the table, and the row according to the log. Empty when all is well; `rebuild` repairs it.';
