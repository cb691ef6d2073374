-- graphile-worker takes jobs by priority and run_at, so a turn is written as a run_at long past: an index serves the order.

create or replace function job.turn_time(turn bigint) returns timestamptz
language sql immutable
as $$
  select timestamptz 'epoch' + turn_time.turn * interval '1 microsecond'
$$;
comment on function job.turn_time is 'The run_at of a job with this turn. A microsecond is a tick, a tenth of a millisecond of a slot at weight 1: before turns are later than now, 5,000 years of one slot pass.';
