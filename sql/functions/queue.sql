-- The queue is graphile-worker's, used through its public functions. A job says that a submission can run; the log decides. So
-- a job that comes twice, late or after the end does no harm, and a lost job is added again (runledger.reconcile_queue).
-- A job's task names the language, so only workers that run the language take it. Its key is the submission's id.

create or replace function job.describe_execution(
  submission_id uuid, language text, is_low boolean, queue_position bigint
) returns graphile_worker.job_spec
language sql stable
as $$
  select row(
    'execute:' || describe_execution.language, json_build_object('submission', describe_execution.submission_id), null,
    job.position_time(describe_execution.queue_position), null, describe_execution.submission_id::text,
    case when describe_execution.is_low then 1 else 0 end, null
  )::graphile_worker.job_spec
$$;
comment on function job.describe_execution is 'Returns the job of a pending submission. queue_position: as in runledger.pending; null for low priority, which comes after all others, in the order of arrival.';

create or replace function job.enqueue_execution(
  submission_id uuid, delay_seconds integer default 0, is_given_back boolean default false
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _pending record;
  _job graphile_worker.job_spec;
begin
  select p.is_low, p.position, p.language, p.account_id, coalesce(tier.weight, 1) as weight
  into _pending
  from runledger.pending p
  left join runledger.api_key k on k.id = p.api_key_id
  left join runledger.tier on tier.name = k.tier
  where p.submission_id = enqueue_execution.submission_id;
  if not found then
    return; -- the submission has ended
  end if;
  if _pending.position is null and not _pending.is_low then
    select found.start + found.step into _pending.position
    from job.find_position(_pending.account_id, _pending.weight) found;
  end if;
  update runledger.pending p set position = _pending.position
  where p.submission_id = enqueue_execution.submission_id and p.position is distinct from _pending.position;
  _job := job.describe_execution(
    enqueue_execution.submission_id, _pending.language, _pending.is_low, _pending.position
  );
  if enqueue_execution.delay_seconds > 0 then
    _job.run_at := now() + make_interval(secs => enqueue_execution.delay_seconds);
  end if;
  -- A real time is later than every position, so a delayed job gets a priority before all of them.
  if enqueue_execution.is_given_back or enqueue_execution.delay_seconds > 0 and not _pending.is_low then
    _job.priority := _job.priority - 1;
  end if;
  perform graphile_worker.add_jobs(array[_job]);
end
$$;
comment on function job.enqueue_execution is 'Adds the job of one pending submission, in place of the job that it may have. The submission keeps its position, or gets one. delay_seconds: the job is not taken earlier. is_given_back: the submission is requeued and goes before others. Does nothing when the submission has ended.';

create or replace function runledger.admit_waiting(api_key_id uuid) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _limit integer;
  _admitted integer := 0;
  _id uuid;
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
  for _id in
    select p.submission_id
    from runledger.pending p
    where p.api_key_id = admit_waiting.api_key_id and not p.admitted
    order by p.is_low, p.submission_id
    -- Null is unlimited; greatest() alone would turn it into 0.
    limit case when _limit is not null then greatest(0, _limit - (
      select count(*) from runledger.pending p
      where p.api_key_id = admit_waiting.api_key_id and p.admitted
    )) end
    -- Skips a submission that is just being cancelled, because it needs no slot.
    for update of p skip locked
  loop
    update runledger.pending set admitted = true where pending.submission_id = _id;
    perform job.enqueue_execution(_id);
    _admitted := _admitted + 1;
  end loop;
  return _admitted;
end
$$;
comment on function runledger.admit_waiting is 'Enqueues as many of a key''s waiting submissions as its tier allows, low priority last and the oldest first; returns how many. Every end calls it, so that exactly the tier''s number run.';

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
