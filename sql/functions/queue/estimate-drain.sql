-- How fast the queue empties, for callers who find it full.

create or replace function runledger.estimate_drain() returns double precision
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Earlier ends say nothing of a queue that nobody takes from.
  if (
    select bool_and(w.wanted <> 'working') from runledger.worker w
    where w.stopped_at is null and runledger.is_worker_alive(w.id)
  ) then
    return 0;
  end if;

  -- From the first of the newest ends to now: right from the second end after a quiet hour, and sinking when nothing
  -- ends. By index, in milliseconds however long the log is.
  return (
    select coalesce((count(*) - 1) / nullif(extract(epoch from now() - min(ended.recorded_at)), 0), 0)
    from (
      select recent.recorded_at
      from (
        select e.position, e.type, e.recorded_at from runledger.event e
        order by e.position desc limit 10000
      ) recent
      where runledger.closes_submission(recent.type)
        and recent.recorded_at > now() - interval '60 seconds'
      order by recent.position desc limit 10
    ) ended
  );
end
$$;
comment on function runledger.estimate_drain is 'Submissions that ended lately, per second: of the last ten within 60 seconds; 0 with fewer than two, and while every live worker is paused or drains. Beyond the newest 10,000 events none is counted.';
