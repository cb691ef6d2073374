-- graphile-worker takes jobs by priority and run_at, so a turn is written as a run_at long past: an index serves the order.

create or replace function job.turn_time(turn bigint) returns timestamptz
language sql immutable
as $$
  -- PostgreSQL puts only this into the caller's statement: its sum with an interval is not immutable.
  select to_timestamp(turn_time.turn / 1000000::double precision)
$$;
comment on function job.turn_time is 'The run_at of a job with this turn. A microsecond of it is a tick, 20 microseconds of a slot at weight 1: before turns are later than real times, 1,000 years of one slot pass.';
