-- Defines what is unfinished.

create or replace view runledger.pending_from_log as
select
  received.stream_id as submission_id,
  (received.data ->> 'api_key')::uuid as api_key_id,
  coalesce(received.data ->> 'priority' = 'low', false) as is_low,
  (received.data ->> 'account')::uuid as account_id
from runledger.event received
where received.type = 'submission.received'
  and not exists (
    select from runledger.event ended
    where ended.stream_id = received.stream_id and runledger.closes_submission(ended.type)
  );
comment on view runledger.pending_from_log is 'Submissions without a terminal event, as the log says. The table runledger.pending has one row for each.';
