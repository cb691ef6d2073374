-- The first jobs of the queue, locked for who removes them (runledger.take_several). Columns and indexes are those of the
-- version pinned in package.json; runledger_by_task is ours.

create or replace function job.lock_jobs(tasks text[], priority smallint, due_at timestamptz, most integer)
returns table (id bigint, payload json, run_at timestamptz)
language plpgsql
-- A plan made while the queue was empty would sort all that waits. What is left looks dear, and is not worth compiling.
set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  _tasks integer[];
  _has_others boolean;
  _task integer;
begin
  select
    array_agg(task.id) filter (where task.identifier = any (lock_jobs.tasks)),
    bool_or(task.identifier like job.name_task('%') and task.identifier <> all (lock_jobs.tasks))
  into _tasks, _has_others
  from graphile_worker._private_tasks task;

  if not _has_others then
    -- No other language's task exists, so graphile-worker's own order and index do.
    return query
      select j.id, j.payload, case when j.priority = 0 then j.run_at end
      from graphile_worker._private_jobs j
      where j.is_available and (j.priority, j.run_at) >= (lock_jobs.priority, lock_jobs.due_at) and j.run_at <= now()
        and j.task_id = any (_tasks)
      order by j.priority, j.run_at limit lock_jobs.most
      for update skip locked;
    return;
  end if;

  -- Thousands that this worker cannot run may come first (bench/README.md). So our index gives each task's first. Only
  -- one job is locked, as others take a locked one for gone.
  for _task in
    select first.task_id
    from unnest(_tasks) task (id)
    cross join lateral (
      select j.task_id, j.priority, j.run_at from graphile_worker._private_jobs j
      where j.task_id = task.id and j.is_available
        and (j.priority, j.run_at) >= (lock_jobs.priority, lock_jobs.due_at) and j.run_at <= now()
      order by j.priority, j.run_at limit 1
    ) first
    order by first.priority, first.run_at
  loop
    return query
      select j.id, j.payload, case when j.priority = 0 then j.run_at end
      from graphile_worker._private_jobs j
      where j.task_id = _task and j.is_available
        and (j.priority, j.run_at) >= (lock_jobs.priority, lock_jobs.due_at) and j.run_at <= now()
      order by j.priority, j.run_at limit 1
      for update skip locked;
    exit when found;
  end loop;
end
$$;
comment on function job.lock_jobs is 'The first jobs of these tasks that are due, from this priority and time on, in their order: so many at most, or one, though more wait. No row: none waits. run_at is null for one that does not have the usual priority. Who leaves some is to call job.wake_workers.';
