-- Defines which submissions are reruns.

create or replace view runledger.rerun_from_log as
select
  received.stream_id as submission_id,
  (received.data ->> 'rerun_of')::uuid as rerun_of,
  received.data ->> 'campaign' as campaign
from runledger.event received
where received.type = 'submission.received' and received.data ? 'rerun_of';
comment on view runledger.rerun_from_log is 'Submissions that repeat another one, according to the log. The table runledger.rerun caches this view.';
