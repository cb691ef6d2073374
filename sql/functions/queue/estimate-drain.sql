-- How fast the queue empties: what a caller is told who finds it full.

create or replace function runledger.estimate_drain() returns double precision
language plpgsql stable security definer set search_path = ''
as $$
begin
  -- What ended a moment ago says nothing of a queue that nobody takes from.
  if (
    select bool_and(w.wanted <> 'working') from runledger.worker w
    where w.stopped_at is null and runledger.is_worker_alive(w.id)
  ) then
    return 0;
  end if;

  -- Over the time since the first of the newest ends: after a quiet hour the rate is right with the second one, and when
  -- nothing ends any more it sinks. Newest events only, by their index: a full queue is answered in milliseconds however
  -- long the log is.
  return (
    select coalesce((count(*) - 1) / nullif(extract(epoch from now() - min(ended.recorded_at)), 0), 0)
    from (
      select recent.recorded_at
      from (
        select e.position, e.type, e.recorded_at from runledger.event e
        order by e.position desc limit 10000
      ) recent
      where recent.type in ('execution.completed', 'execution.abandoned')
        and recent.recorded_at > now() - interval '60 seconds'
      order by recent.position desc limit 10
    ) ended
  );
end
$$;
comment on function runledger.estimate_drain is 'Submissions that ended lately, per second: of the last ten within 60 seconds; 0 with fewer than two, and while every live worker is paused or drains. Beyond the newest 10,000 events none is counted.';
