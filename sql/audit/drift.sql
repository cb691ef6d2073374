create or replace view audit.drift as
select 'result' as projection, id, to_jsonb(cached) as cached, to_jsonb(derived) as in_the_log
from runledger.result cached
full join runledger.result_from_log derived using (id)
where cached is distinct from derived
union all
select 'pending', submission_id, to_jsonb(cached) - 'told_to', to_jsonb(derived)
from runledger.pending cached
full join runledger.pending_from_log derived using (submission_id)
where cached.api_key_id is distinct from derived.api_key_id
union all
select 'delivery', submission_id, to_jsonb(cached) - 'secret' - 'url', to_jsonb(derived)
from runledger.delivery cached
full join runledger.delivery_from_log derived using (submission_id)
where (cached.webhook_id, cached.attempts, cached.state) is distinct from (derived.webhook_id, derived.attempts, derived.state);
comment on view audit.drift is 'Where a table differs from the log that it is made from: the row as it stands, and as the log says it should be. Empty when all is well; `rebuild` repairs it.';
