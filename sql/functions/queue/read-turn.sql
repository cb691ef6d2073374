-- The inverse of job.turn_time.

create or replace function job.read_turn(run_at timestamptz) returns bigint
language sql stable
as $$
  select case when read_turn.run_at < timestamptz '2020-01-01 00:00Z' then (extract(epoch from read_turn.run_at) * 1000000)::bigint end
$$;
comment on function job.read_turn is 'The turn of a job with this run_at; null for a real time.';
