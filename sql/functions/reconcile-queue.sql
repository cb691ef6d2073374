-- The queue is a hint: whatever happens to its rows, an unfinished submission gets a job again.

create or replace function runledger.reconcile_queue() returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  _repaired integer := 0;
  _row record;
begin
  if not pg_try_advisory_xact_lock(71830, 0) then
    return 0;
  end if;

  -- A worker that was killed before it could say under which ids it locks jobs. graphile-worker itself waits 4 hours.
  perform graphile_worker.force_unlock_workers(array(
    select distinct j.locked_by
    from graphile_worker.jobs j
    where j.locked_at < now() - interval '30 seconds'
      and not exists (
        select from runledger.worker w where w.stopped_at is null and j.locked_by = any (w.queue_pool_ids)
      )
  ));

  for _row in
    select p.submission_id
    from runledger.pending p
    join runledger.result r on r.id = p.submission_id
    where p.admitted
      and r.status = 'queued'
      and not exists (
        select from graphile_worker.jobs j
        where j.key = p.submission_id::text and j.attempts < j.max_attempts
          -- Taken long ago and never started: the answer that handed it out was lost with its connection.
          and (j.locked_at is null or j.locked_at > now() - interval '30 seconds')
      )
  loop
    perform job.enqueue_execute(_row.submission_id);
    _repaired := _repaired + 1;
  end loop;

  for _row in
    select d.webhook_id, d.due_at
    from runledger.delivery d
    where d.state = 'pending'
      and not exists (
        select from graphile_worker.jobs j
        where j.key = d.webhook_id::text and j.attempts < j.max_attempts
      )
  loop
    perform job.enqueue_deliver(_row.webhook_id, _row.due_at);
    _repaired := _repaired + 1;
  end loop;

  for _row in
    select distinct p.api_key_id from runledger.pending p where not p.admitted
  loop
    _repaired := _repaired + runledger.admit_waiting(_row.api_key_id);
  end loop;

  delete from runledger.idempotency where created_at <= now() - interval '24 hours';
  perform graphile_worker.complete_jobs(array(
    select j.id from graphile_worker.jobs j where j.attempts >= j.max_attempts and j.locked_at is null
  ));
  return _repaired;
end
$$;
comment on function runledger.reconcile_queue is 'Frees jobs that no worker answers for, enqueues again what is unfinished and has no job, admits what waits and has room, forgets old idempotency keys and spent jobs; returns how many submissions and webhooks it repaired.';
