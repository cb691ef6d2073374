-- The queue is graphile-worker's, used through its public functions. A job says that a submission can run; the log decides. So
-- a job that comes twice, late or after the end does no harm, and a lost job is added again (runledger.reconcile_queue).
-- A job's task names the language, so only workers that run the language take it. Its key is the submission's id.

create or replace function runledger.admit_waiting(api_key_id uuid, most integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _limit integer;
  _ids uuid[];
begin
  select tier.concurrent_executions into _limit
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = admit_waiting.api_key_id;
  if not found then
    return 0; -- the row was edited by hand: audit.drift shows it
  end if;

  -- Calls for one key take turns, so that the count is exact.
  perform from runledger.api_key k where k.id = admit_waiting.api_key_id for no key update;
  _ids := array(
    select p.submission_id
    from runledger.pending p
    where p.api_key_id = admit_waiting.api_key_id and not p.admitted
    order by p.is_low, p.submission_id
    -- A call that enqueued very many would time out, and the next one, too. Null is unlimited; greatest() alone would turn
    -- it into 0.
    limit least(admit_waiting.most, case when _limit is not null then greatest(0, _limit - (
      select count(*) from runledger.pending p
      where p.api_key_id = admit_waiting.api_key_id and p.admitted
    )) end)
    -- Skips a submission that is just being cancelled, because it needs no slot.
    for update of p skip locked
  );
  if _ids = '{}' then
    return 0;
  end if;
  update runledger.pending set admitted = true where pending.submission_id = any (_ids);
  return job.enqueue_executions(_ids);
end
$$;
comment on function runledger.admit_waiting is 'Enqueues as many of a key''s waiting submissions as its tier allows, low priority last and the oldest first, but no more than `most`; returns how many. Every end calls it, so that exactly the tier''s number run.';

create or replace function runledger.displace_low(api_key_id uuid) returns boolean
language plpgsql
as $$
declare
  _id uuid;
begin
  -- The first session to lock this row decides: if it is a start, the submission runs; a later start finds it not admitted.
  update runledger.pending set admitted = false
  where pending.submission_id = (
    select p.submission_id from runledger.pending p
    where p.api_key_id = displace_low.api_key_id and p.admitted and p.is_low and not p.is_running
    order by p.submission_id desc limit 1
    for update skip locked
  )
  returning pending.submission_id into _id;
  if not found then
    return false;
  end if;
  perform graphile_worker.remove_job(_id::text);
  return true;
end
$$;
comment on function runledger.displace_low is 'Revokes the admission of a key''s newest low-priority submission that has not started: it waits again to be admitted (admit_waiting). False: there is none. The caller holds the key''s lock.';

create or replace function job.add_executions(jobs graphile_worker.job_spec[]) returns void
language plpgsql
as $$
begin
  perform graphile_worker.add_jobs(add_executions.jobs);
  perform pg_notify('runledger_job', '');
end
$$;
comment on function job.add_executions is 'Adds jobs (job.describe_execution) and notifies the workers.';

create or replace function job.enqueue_executions(
  submission_ids uuid[], delay_seconds integer default 0
) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _jobs graphile_worker.job_spec[];
begin
  with asked as materialized (
    select
      p.submission_id, p.language, p.is_low, p.position, p.account_id, p.attempts, coalesce(tier.weight, 1) as weight, given.n,
      p.position is null and not p.is_low as is_new
    from unnest(enqueue_executions.submission_ids) with ordinality given (id, n)
    join runledger.pending p on p.submission_id = given.id
    left join runledger.api_key k on k.id = p.api_key_id
    left join runledger.tier on tier.name = k.tier
    where p.submission_id = any (enqueue_executions.submission_ids)
  ), account as materialized (
    select new.account_id, new.weight, found.start, found.step
    from (select distinct a.account_id, a.weight from asked a where a.is_new) new
    cross join lateral job.find_position(new.account_id, new.weight) found
  ), positioned as (
    update runledger.pending p set position = new.position
    from (
      select
        a.submission_id,
        account.start + account.step * row_number() over (partition by a.account_id, a.weight order by a.n) as position
      from asked a
      join account using (account_id, weight)
      where a.is_new
    ) new
    where p.submission_id = any (enqueue_executions.submission_ids) and p.submission_id = new.submission_id
    returning p.submission_id, p.position
  )
  select array_agg(job.describe_execution(
    asked.submission_id, asked.language, asked.is_low, coalesce(positioned.position, asked.position),
    enqueue_executions.delay_seconds, asked.attempts > 0
  ))
  into _jobs
  from asked
  left join positioned using (submission_id);
  if _jobs is not null then
    perform job.add_executions(_jobs);
  end if;
  return coalesce(cardinality(_jobs), 0);
end
$$;
comment on function job.enqueue_executions is 'Adds the jobs of pending submissions, each in place of the job that it may have; returns how many. A submission keeps its position, or gets one, in the order of the ids. One that has lost an attempt goes first, however often its job is added. delay_seconds: as in job.describe_execution. A submission that has ended gets none.';

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

create or replace function job.describe_execution(
  submission_id uuid, language text, is_low boolean, queue_position bigint, delay_seconds integer default 0,
  goes_first boolean default false
) returns graphile_worker.job_spec
language sql stable
as $$
  select row(
    'execute:' || describe_execution.language, json_build_object('submission', describe_execution.submission_id), null,
    case
      when describe_execution.delay_seconds > 0 then now() + make_interval(secs => describe_execution.delay_seconds)
      else job.position_time(describe_execution.queue_position)
    end,
    null, describe_execution.submission_id::text,
    describe_execution.is_low::integer - (
      -- A real time is later than every position, so a delayed job gets a priority before all of them.
      describe_execution.goes_first or describe_execution.delay_seconds > 0 and not describe_execution.is_low
    )::integer,
    null
  )::graphile_worker.job_spec
$$;
comment on function job.describe_execution is 'Returns the job of a pending submission. queue_position: as in runledger.pending; null for low priority, which comes after all others, in the order of arrival. delay_seconds: the job is not taken earlier. goes_first: before all others of its priority.';
