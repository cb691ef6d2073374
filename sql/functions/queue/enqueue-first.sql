-- graphile_worker.add_job is made for every case: it looks for missing tasks, queues and jobs of the same key, plans its
-- insert anew each time, and takes half of what storing a submission costs. A submission that was just received has no job
-- yet, so a bare row says the same. Its columns are those of the version that package.json pins.
create or replace function job.enqueue_first(submission_id uuid, language text) returns void
language plpgsql
as $$
begin
  insert into graphile_worker._private_jobs (task_id, payload, key)
  select
    task.id,
    json_build_object('submission', enqueue_first.submission_id, 'language', enqueue_first.language),
    enqueue_first.submission_id::text
  from graphile_worker._private_tasks task
  where task.identifier = job.name_task(enqueue_first.language)
  on conflict (key) do nothing;
  if not found then
    -- Nobody was ever here with this language, and add_job makes the task, too; or there is a job, and add_job knows what to
    -- do with it; or the language is not known here, but to the log.
    perform job.enqueue_execute(enqueue_first.submission_id);
  end if;
end
$$;
comment on function job.enqueue_first is 'Enqueues the first execution of a submission in the caller''s transaction. It wakes nobody: see job.wake_workers.';
