-- graphile_worker.add_job takes half of what storing a submission costs: it looks for tasks, queues and jobs of the
-- same key, and plans its insert each time. A new submission has no job, so a bare row will do. Its columns are those
-- of the version pinned in package.json.
create or replace function job.enqueue_first(
  submission_id uuid, language text, is_low boolean, turn bigint, account_id uuid default null, debt bigint default null
) returns void
language plpgsql
as $$
begin
  insert into graphile_worker._private_jobs (task_id, payload, key, priority, run_at)
  select
    task.id,
    json_strip_nulls(json_build_object(
      'submission', enqueue_first.submission_id, 'language', enqueue_first.language,
      -- For take_execution, as only it moves the job.
      'account', enqueue_first.account_id, 'debt', enqueue_first.debt
    )),
    enqueue_first.submission_id::text,
    job.rank(enqueue_first.is_low),
    coalesce(job.turn_time(enqueue_first.turn), now())
  from graphile_worker._private_tasks task
  where task.identifier = job.name_task(enqueue_first.language)
  on conflict (key) do nothing;
  if not found then
    -- A new task, an earlier job, or a language known only to the log.
    perform job.enqueue_execute(enqueue_first.submission_id);
  end if;
end
$$;
comment on function job.enqueue_first is 'Enqueues the first execution of a pending submission in the caller''s transaction, at its turn; null: after all that are there. debt: its account''s that the turn counts in (job.read_debt); null: its turn is for good. It wakes nobody: see job.wake_workers.';
