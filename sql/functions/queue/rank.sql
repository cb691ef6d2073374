-- The order of jobs, in graphile-worker's priorities: lower ones first. One that was given back has waited once, and goes
-- before its like (runledger.interrupt_execution).

create or replace function job.rank(is_low boolean, given_back boolean default false) returns smallint
language sql immutable
as $$
  select (case when rank.is_low then 2 else 0 end - case when rank.given_back then 1 else 0 end)::smallint
$$;
comment on function job.rank is 'The priority of a submission''s job: 0 is usual, 2 is low, one less is given back.';
