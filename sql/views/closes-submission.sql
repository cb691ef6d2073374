-- The events that end a submission. The index event_one_terminal lists the same types.

create or replace function runledger.closes_submission(type text) returns boolean
-- Has no settings, so that PostgreSQL inlines it and finds the index.
language sql immutable
as $$
  select type in ('execution.completed', 'execution.abandoned', 'submission.cancelled')
$$;
comment on function runledger.closes_submission is 'True for the types of events that end a submission.';
