-- Accounts share the slots. A submission's position is a virtual time in microseconds of a slot at weight 1; workers take the
-- least one. Nothing is stored but the position itself, in runledger.pending, and nothing is corrected later.

create or replace function job.find_position(account_id uuid, weight integer) returns table (start bigint, step bigint)
language sql stable rows 1
as $$
  select
    greatest(
      -- The virtual time is where those are that run; an idle service begins at 0 again.
      coalesce(
        (
          select p.position from runledger.pending p where p.is_running and not p.is_parked and p.position is not null
          order by p.position desc limit 1
        ),
        (select p.position from runledger.pending p where p.position is not null order by p.position limit 1),
        0
      ),
      (
        select p.position from runledger.pending p
        where p.account_id = find_position.account_id and p.position is not null
        order by p.position desc limit 1
      )
    ),
    greatest(1, 1000000 * coalesce(
      (
        select avg(least(600, recent.slot_seconds))
        from (
          select r.slot_seconds from runledger.result r
          where r.account_id = find_position.account_id and r.slot_seconds is not null
          order by r.finished_at desc limit 8
        ) recent
      ),
      0.1
    ) / find_position.weight)::bigint
$$;
comment on function job.find_position is 'Where the account''s next submissions stand in the queue: the n-th of a set (1, 2, …) at start + n * step. start: its last one''s position, or the virtual time if that is later. step: the price of one, the mean slot time of its last eight results (0.1 s when there is none; ten minutes of each at most), divided by its weight.';

create or replace function job.position_time(queue_position bigint) returns timestamptz
language sql stable
as $$
  -- After fifty years of one slot without an idle moment they would be in the future: then it is first come, first served.
  select least(now(), timestamptz 'epoch' + position_time.queue_position * interval '1 microsecond')
$$;
comment on function job.position_time is 'The run_at of a job at this position: graphile-worker takes jobs by priority and run_at. Now for null, as a low one has none.';
