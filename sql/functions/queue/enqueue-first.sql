-- graphile_worker.add_job takes half of what storing a submission costs: it looks for tasks, queues and jobs of the
-- same key, and plans its insert each time. A new submission has no job, so a bare row will do. Its columns are those
-- of the version pinned in package.json.
create or replace function job.enqueue_first(places job.place[]) returns void
language plpgsql
as $$
declare
  _enqueued integer;
begin
  insert into graphile_worker._private_jobs (task_id, payload, key, priority, run_at)
  select
    task.id,
    json_strip_nulls(json_build_object(
      'submission', place.submission_id, 'language', place.language,
      -- For runledger.take_several, as only it moves the job.
      'account', place.account_id, 'debt', place.debt, 'bytes', place.bytes
    )),
    place.submission_id::text,
    job.rank(place.is_low),
    coalesce(job.turn_time(place.turn), now())
  from unnest(enqueue_first.places) place
  join graphile_worker._private_tasks task on task.identifier = job.name_task(place.language)
  on conflict (key) do nothing;
  get diagnostics _enqueued = row_count;
  if _enqueued < cardinality(enqueue_first.places) then
    -- A new task, an earlier job, or a language known only to the log.
    perform job.enqueue_execute(place.submission_id) from unnest(enqueue_first.places) place;
  end if;
end
$$;
comment on function job.enqueue_first is 'Enqueues the first execution of pending submissions in the caller''s transaction, each at its turn. It wakes nobody: see job.wake_workers.';
