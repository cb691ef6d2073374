-- How fast the queue empties: what a caller is told who finds it full.

create or replace function runledger.estimate_drain() returns double precision
language sql stable security definer set search_path = ''
as $$
  -- The newest events only, by their index: a full queue is answered in milliseconds however long the log is.
  select count(*) / 60.0::double precision
  from (
    select e.type, e.recorded_at from runledger.event e
    order by e.position desc limit 10000
  ) recent
  where recent.type in ('execution.completed', 'execution.abandoned')
    and recent.recorded_at > now() - interval '60 seconds'
$$;
comment on function runledger.estimate_drain is 'Submissions that ended in the last 60 seconds, per second; beyond the newest 10,000 events none is counted.';
