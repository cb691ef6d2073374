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
