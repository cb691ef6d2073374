-- The submission's id is the job's key: enqueuing again replaces the job, so that it never runs twice at once. The payload
-- names the language, so that the worker knows without asking how to begin; the log has the last word on it.

create or replace function job.enqueue_execute(submission_id uuid, delay_seconds integer default 0) returns void
language sql security definer set search_path = ''
as $$
  select graphile_worker.add_job(
    'execute',
    json_build_object('submission', enqueue_execute.submission_id, 'language', received.data ->> 'language'),
    run_at => case when enqueue_execute.delay_seconds > 0 then now() + make_interval(secs => enqueue_execute.delay_seconds) end,
    job_key => enqueue_execute.submission_id::text
  )
  from runledger.event received
  where received.stream_id = enqueue_execute.submission_id and received.stream_version = 1
$$;
comment on function job.enqueue_execute is 'Enqueues the execution of one submission again, or later, in the caller''s transaction.';

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
  where task.identifier = 'execute'
  on conflict (key) do nothing;
  if not found then
    -- No worker was ever here, and add_job makes the task, too; or there is a job, and add_job knows what to do with it.
    perform job.enqueue_execute(enqueue_first.submission_id);
  end if;
end
$$;
comment on function job.enqueue_first is 'Enqueues the first execution of a submission in the caller''s transaction. It wakes nobody: see job.wake_workers.';

create or replace function job.wake_workers(jobs integer) returns void
language sql security definer set search_path = ''
as $$
  -- graphile-worker's own channel and count; "task" lets those pass by who take other jobs. The number at random keeps one
  -- apart from others of its transaction, of which PostgreSQL would deliver one alone if they said the same.
  select pg_notify('jobs:insert', '{"task": "execute", "count": ' || wake_workers.jobs || ', "r": ' || random() || '}')
$$;
comment on function job.wake_workers is 'Tells workers that so many executions were enqueued.';
