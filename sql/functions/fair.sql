-- Accounts share the slots. A submission's position is a virtual time, in microseconds of a slot at weight 1. Workers take the
-- lowest position. Only the position is stored, in runledger.pending, and it is not corrected later.

create or replace function job.find_position(account_id uuid, weight integer) returns table (start bigint, step bigint)
language sql stable rows 1
as $$
  select
    greatest(
      -- The virtual time is the last position that runs. An idle service starts at 0 again.
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
comment on function job.find_position is 'Returns the positions of the account''s next submissions: the n-th of a set (1, 2, …) gets start + n * step. start: the account''s last position, or the virtual time if that is later. step: the price of one submission, which is the mean slot time of the account''s last eight results (0.1 s without any; at most ten minutes of each), divided by weight.';

create or replace function job.position_time(queue_position bigint) returns timestamptz
language sql stable
as $$
  -- After fifty years of one slot without an idle moment, positions reach the present. From then on it is first come, first
  -- served.
  select least(now(), timestamptz 'epoch' + position_time.queue_position * interval '1 microsecond')
$$;
comment on function job.position_time is 'Returns the run_at of a job at this position: graphile-worker takes jobs by priority and run_at. Now for null, because low-priority jobs have no position.';
