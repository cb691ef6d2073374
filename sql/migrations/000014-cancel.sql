-- A caller may take a submission back: `cancelled` is a third way to end.

alter table runledger.result
  drop constraint result_status,
  add constraint result_status check (status in ('queued', 'running', 'completed', 'failed', 'cancelled'));

-- As runledger.closes_submission has them. Both before the release that writes the new event.
drop index runledger.event_one_terminal;
create unique index event_one_terminal on runledger.event (stream_id)
  where type in ('execution.completed', 'execution.abandoned', 'submission.cancelled');
comment on index runledger.event_one_terminal is 'A submission ends once.';
