-- Requeues the submissions and jobs of lost workers. Every process calls it twice a second; one of them sweeps.

create or replace function runledger.sweep_workers(pause interval default '0')
returns table (worker_id uuid, submission_id uuid, requeued boolean, host text, pid integer, silent_seconds double precision)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- A sweep that interrupted more might take longer than its statement may. The next sweep goes on.
  _most constant integer := 1000;
  _lost uuid[];
  _attempts uuid[];
  _unowned text[];
  _p runledger.pending;
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
  update runledger.worker set stopped_at = now(), is_lost = true where worker.id = any (_lost);
  _attempts := array(
    select p.submission_id from runledger.pending p
    -- worker_id: only so that the plan may use pending_by_worker.
    where p.is_running and p.worker_id is not null and (
      not exists (select from runledger.worker w where w.id = p.worker_id and w.stopped_at is null)
      -- The worker does not know that it runs and cannot cancel it, because the answer that handed it out was lost.
      or p.is_cancelled and exists (
        select from runledger.event e
        where e.stream_id = p.submission_id and e.stream_version = p.version
          and e.recorded_at < now() - interval '15 seconds'
      )
    )
    limit _most
  );
  if _lost = '{}' and _attempts = '{}' then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  perform runledger.lock_submissions(_attempts);
  for _p in
    select p.* from runledger.pending p
    where p.submission_id = any (_attempts) and p.is_running
      and (p.is_cancelled or not exists (select from runledger.worker w where w.id = p.worker_id and w.stopped_at is null))
    order by p.api_key_id -- in the order in which ends lock keys, too
  loop
    worker_id := _p.worker_id;
    submission_id := _p.submission_id;
    begin
      select lost.outcome = 'requeued' into requeued
      from runledger.interrupt(
        _p.submission_id, _p.version - _p.is_cancelled::integer, _p.run, 1, '{"reason": "worker_lost", "spends_attempt": true}',
        jsonb_build_object('actor', jsonb_build_object('sweep_of', _p.worker_id))
      ) lost;
      return next;
    exception when others then
      -- One failure must not hold up the others. The next sweep tries this submission again.
      raise warning 'submission % is not given back: %', _p.submission_id, sqlerrm;
    end;
  end loop;

  submission_id := null;
  requeued := null;
  for worker_id, host, pid, silent_seconds in
    select w.id, w.host, w.pid, extract(epoch from now() - w.renewed_at) from runledger.worker w where w.id = any (_lost)
  loop
    return next;
  end loop;

  -- Frees jobs that no live worker holds. A worker that has just started reports its pools' ids within milliseconds of its first
  -- job. graphile-worker would wait 4 hours.
  _unowned := array(
    select distinct j.locked_by
    from graphile_worker.jobs j
    where j.locked_at < now() - interval '2 seconds'
      and not exists (
        select from runledger.worker w where w.stopped_at is null and j.locked_by = any (w.queue_pool_ids)
      )
  );
  if _unowned <> '{}' then
    perform graphile_worker.force_unlock_workers(_unowned);
  end if;
end
$$;
comment on function runledger.sweep_workers is 'Marks lost workers as stopped, unless a sweep began less than pause ago, interrupts attempts of workers that have stopped (which enqueues each submission again, or ends it when it was lost too often or is cancelled), at most a thousand, and frees jobs that belong to no worker. Returns the changed submissions, and then one row without a submission for each worker that was marked.';

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
