create or replace view audit.webhook as
select
  d.webhook_id,
  case when received.type is distinct from 'batch.received' then d.submission_id end as submission_id,
  account.name as account,
  received.data #>> '{webhook,host}' as receiver,
  d.state,
  d.attempts,
  case when d.state = 'pending' then d.due_at end as next_attempt_at,
  last.recorded_at as last_attempt_at,
  last.data ->> 'outcome' as last_outcome,
  (last.data ->> 'status')::integer as last_status,
  case when d.state in ('delivered', 'abandoned') then head.recorded_at end as ended_at,
  case when d.state = 'abandoned' then head.data ->> 'reason' end as abandoned_because,
  case when received.type = 'batch.received' then d.submission_id end as batch_id
from runledger.delivery d
left join runledger.event received on received.stream_id = d.submission_id and received.stream_version = 1
-- Cast for these types only: in events of keys, `account` is a name.
left join runledger.account on account.id = case
  when received.type in ('submission.received', 'batch.received') then (received.data ->> 'account')::uuid
end
left join lateral (
  select e.recorded_at, e.data from runledger.event e
  where e.stream_id = d.webhook_id
  order by e.stream_version desc limit 1
) head on true
left join lateral (
  select e.recorded_at, e.data from runledger.event e
  where e.stream_id = d.webhook_id and e.type in ('webhook.attempt_failed', 'webhook.delivered')
  order by e.stream_version desc limit 1
) last on true;
comment on view audit.webhook is 'One row for each submission or batch with a webhook: its state, the outcome of the last attempt, when the next is due. The stream webhook_id has all events.';

create or replace view audit.webhook_attempt as
select
  e.stream_id as webhook_id,
  (e.data ->> 'submission')::uuid as submission_id,
  (e.data ->> 'attempt')::integer as attempt,
  e.recorded_at,
  e.data ->> 'outcome' as outcome,
  (e.data ->> 'status')::integer as status,
  (e.data ->> 'duration_seconds')::double precision as duration_seconds,
  e.data ->> 'snippet' as snippet,
  (e.data ->> 'next_attempt_at')::timestamptz as next_attempt_at,
  e.metadata #>> '{actor,worker}' as worker_id
from runledger.event e
where e.type in ('webhook.attempt_failed', 'webhook.delivered');
comment on view audit.webhook_attempt is 'One row for each attempt to deliver a webhook: the receiver''s answer, with its first bytes in snippet, or why there was none.';
