-- The order of jobs, in graphile-worker's priorities: lower ones first. One that was given back has waited once, and goes
-- before its like (runledger.interrupt_execution).

create or replace function job.rank(submission_id uuid, given_back boolean default false) returns smallint
language sql stable
as $$
  select (case when pending.is_low then 2 else 0 end - case when rank.given_back then 1 else 0 end)::smallint
  from runledger.pending
  where pending.submission_id = rank.submission_id
$$;
comment on function job.rank is 'The priority of a submission''s job: 0 is usual, 2 is low, one less is given back. Null: it is not pending.';
