-- Jobs may be lost, and rows of runledger.pending. From the log, an unfinished submission always gets a row and a job.

create or replace function runledger.reconcile_queue() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- After a failure there may be very many of each kind, and a pass that took too long would never be committed.
  _at_once constant integer := 1000;
  -- Fewer, because each of these is repaired by itself, which takes milliseconds.
  _one_by_one constant integer := 300;
  _repaired integer := 0;
  _admitted integer := 0;
  _newest constant integer := 5000;
  _row record;
  _id uuid;
  _overdue uuid[];
begin
  if not pg_try_advisory_xact_lock(71830, 0) then
    return 0;
  end if;

  -- Rows may have been removed by hand. Unfinished submissions are among the newest.
  for _id in
    select d.submission_id from runledger.pending_from_log d
    where d.submission_id > coalesce((
        select e.stream_id from runledger.event e
        where e.type = 'submission.received'
        order by e.stream_id desc offset _newest limit 1
      ), '00000000-0000-0000-0000-000000000000')
      and not exists (select from runledger.pending p where p.submission_id = d.submission_id)
    order by d.submission_id limit _one_by_one
  loop
    begin
      _repaired := _repaired + runledger.refresh_submissions(array[_id]);
    exception when others then
      -- An event that was written by hand may be beyond repair.
      raise warning 'submission % is not restored: %', _id, sqlerrm;
    end;
  end loop;

  for _id in
    select p.submission_id from runledger.pending p
    where p.admitted and not p.is_running and not exists (
      select from graphile_worker.jobs j
      where j.key = p.submission_id::text and j.attempts < j.max_attempts
        -- After a failed start, graphile-worker would wait ever longer, and behind all positions.
        and j.last_error is null
        -- After 10 s, the answer that handed out the job was lost.
        and (j.locked_at is null or j.locked_at > now() - interval '10 seconds')
    )
    order by p.submission_id limit _one_by_one
  loop
    begin
      -- Rows may have been edited by hand, so the log decides. The repaired row is looked at in the next pass.
      if runledger.refresh_submissions(array[_id]) > 0 or runledger.requeue_jobs(array[_id]) > 0 then
        _repaired := _repaired + 1;
      end if;
    exception when others then
      raise warning 'submission % is not repaired: %', _id, sqlerrm;
    end;
  end loop;

  _overdue := array(
    select d.webhook_id
    from (
      -- A receiver that is down may leave very many for later.
      select due.webhook_id from runledger.delivery due
      where due.state = 'pending' and due.due_at <= now()
      order by due.due_at limit 10 * _at_once
    ) d
    where not exists (
      select from graphile_worker.jobs j
      where j.key = d.webhook_id::text and j.attempts < j.max_attempts
        -- No attempt takes this long, so the answer that handed out the job was lost.
        and (j.locked_at is null or j.locked_at > now() - interval '60 seconds')
    )
    limit _at_once
  );
  if _overdue <> '{}' then
    perform job.enqueue_deliveries(_overdue, now());
    _repaired := _repaired + cardinality(_overdue);
  end if;

  -- Includes keys that were moved to a tier without a limit meanwhile.
  for _row in
    select distinct p.api_key_id from runledger.pending p where not p.admitted
  loop
    begin
      _admitted := _admitted + runledger.admit_waiting(_row.api_key_id, _at_once - _admitted);
    exception
      when others then
        raise warning 'what waits for key % is not admitted: %', _row.api_key_id, sqlerrm;
    end;
    exit when _admitted >= _at_once;
  end loop;
  _repaired := _repaired + _admitted;

  delete from runledger.idempotency i
  where (i.account_id, i.key) in (
    select old.account_id, old.key from runledger.idempotency old
    where old.created_at <= now() - interval '24 hours'
    order by old.created_at limit 20 * _at_once
  );
  begin
    delete from runledger.watch w
    using (
      -- Skips rows that a process has locked to renew them.
      select old.submission_id, old.channel from runledger.watch old where old.expires_at < now() for update skip locked
    ) expired
    where w.submission_id = expired.submission_id and w.channel = expired.channel;
    delete from runledger.live_output o
    where not exists (select from runledger.watch w where w.submission_id = o.submission_id);
    perform graphile_worker.complete_jobs(array(
      select j.id from graphile_worker.jobs j
      where j.locked_at is null and case
        when j.attempts >= j.max_attempts then true
        -- The parked attempt of a lost worker was requeued, so its job is useless.
        when j.task_identifier like 'continue:%' then not exists (
          select from runledger.worker w
          where w.stopped_at is null and j.task_identifier = 'continue:' || w.id and runledger.is_worker_alive(w.id)
        )
        else false
      end
    ));
  exception when others then
    raise warning 'what is over is not forgotten: %', sqlerrm;
  end;
  return _repaired;
end
$$;
comment on function runledger.reconcile_queue is 'Restores rows that runledger.pending lacks, adds jobs of unfinished submissions and webhooks that have none, admits submissions that have room, and deletes old idempotency keys, spent jobs and jobs of lost workers; returns how many submissions and webhooks it repaired.';
