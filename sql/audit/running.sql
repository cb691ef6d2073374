create or replace view audit.running as
select
  p.submission_id, account.name as account, k.label as api_key, p.language, p.attempts as attempt, p.worker_id, w.host, p.started_at
from runledger.pending p
left join runledger.worker w on w.id = p.worker_id
left join runledger.account on account.id = p.account_id
left join runledger.api_key k on k.id = p.api_key_id
where p.is_running;
comment on view audit.running is 'One row for each submission that runs now: account, key, attempt, worker and start.';
