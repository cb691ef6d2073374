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
