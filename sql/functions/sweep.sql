-- Requeues the submissions and jobs of lost workers. Every process calls it twice a second; one of them sweeps.

create or replace function runledger.sweep_workers(pause interval default '0')
returns table (worker_id uuid, submission_id uuid, requeued boolean, host text, pid integer, silent_seconds double precision)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- A sweep that interrupted more might take longer than its statement may, and so might each further one.
  _left integer := 1000;
  _lost uuid[];
  _queue_pool_ids text[];
  _unowned text[];
  _p runledger.pending;
  _is_done boolean;
begin
  if not pg_try_advisory_xact_lock(71830, 0) then
    return;
  end if;
  -- A clock that was set back must not stop the sweep.
  insert into runledger.sweep as last (swept_at) values (clock_timestamp())
  on conflict (single) do update set swept_at = excluded.swept_at
  where last.swept_at not between excluded.swept_at - sweep_workers.pause and excluded.swept_at or sweep_workers.pause = '0';
  if not found then
    return;
  end if;
  _lost := array(select w.id from runledger.worker w where w.stopped_at is null and not runledger.is_worker_alive(w.id));
  if cardinality(_lost) = 0 then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  update runledger.worker set stopped_at = now(), is_lost = true where worker.id = any (_lost);
  perform runledger.lock_submissions(array(
    select p.submission_id from runledger.pending p where p.is_running and p.worker_id = any (_lost)
  ));
  for worker_id, host, pid, _queue_pool_ids, silent_seconds in
    select w.id, w.host, w.pid, w.queue_pool_ids, extract(epoch from now() - w.renewed_at) from runledger.worker w
    where w.id = any (_lost)
  loop
    _is_done := true;
    for _p in select p.* from runledger.pending p where p.is_running and p.worker_id = sweep_workers.worker_id order by p.api_key_id loop
      if _left = 0 then
        _is_done := false;
        exit;
      end if;
      _left := _left - 1;
      submission_id := _p.submission_id;
      begin
        select lost.outcome = 'requeued' into requeued
        from runledger.interrupt(runledger.describe_lost(_p)) lost
        -- Any other outcome means that the attempt ended meanwhile.
        where lost.outcome in ('requeued', 'ended');
        if found then
          return next;
        end if;
      exception
        when deadlock_detected or lock_not_available or serialization_failure then
          _is_done := false;
        when others then
          -- One failure must not hold up the others. The reconciler tries this submission again.
          raise warning 'submission % is not given back: %', _p.submission_id, sqlerrm;
      end;
    end loop;
    if _is_done then
      submission_id := null;
      requeued := null;
      return next;
    else
      -- The next sweep, in half a second, tries this worker again.
      update runledger.worker set stopped_at = null, is_lost = false where worker.id = sweep_workers.worker_id;
    end if;
    -- Frees jobs that were taken and not started.
    perform graphile_worker.force_unlock_workers(_queue_pool_ids);
  end loop;

  -- Frees jobs of a worker that was killed before it reported its pools' ids, within milliseconds of its first job.
  -- graphile-worker would wait 4 hours.
  _unowned := array(
    select distinct j.locked_by
    from graphile_worker.jobs j
    where j.locked_at < now() - interval '2 seconds'
      and not exists (
        select from runledger.worker w where w.stopped_at is null and j.locked_by = any (w.queue_pool_ids)
      )
  );
  if cardinality(_unowned) > 0 then
    perform graphile_worker.force_unlock_workers(_unowned);
  end if;
end
$$;
comment on function runledger.sweep_workers is 'Marks lost workers as stopped, unless a sweep began less than pause ago, interrupts their attempts (which enqueues each submission again, or ends it when it was lost too often or is cancelled), and frees their jobs and jobs that belong to no worker. A worker with more than a thousand attempts is marked by a later sweep. Returns the changed submissions, and after those of each lost worker one row without a submission.';

create or replace function runledger.lock_submissions(submissions uuid[]) returns void
language plpgsql
as $$
declare
  _batches uuid[];
begin
  perform runledger.refresh_submissions(lock_submissions.submissions);
  -- Looked up by id alone: a plan made while few belonged to batches would read the whole batch for each member.
  _batches := array(
    select member.batch_id from unnest(lock_submissions.submissions) submission (id)
    cross join lateral (select p.batch_id from runledger.pending p where p.submission_id = submission.id offset 0) member
    where member.batch_id is not null
  );
  if cardinality(_batches) > 0 then
    perform from runledger.delivery d where d.submission_id = any (_batches) order by d.submission_id for update;
  end if;
end
$$;
comment on function runledger.lock_submissions is 'Locks submissions, makes their rows equal to the log, and then locks their batches, before the first of them is interrupted or cancelled, which also locks a key. If they were locked one after another, a key would be locked before the next submission, the reverse of the order in which an end locks them, and the two calls could deadlock.';
