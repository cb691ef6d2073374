-- Removes a job instead of marking it, as graphile-worker does: one index update instead of nine. The log says who has
-- the submission (runledger.take_execution). run_at is mostly a turn (job.turn_time). Columns and indexes are those of the version
-- pinned in package.json; runledger_by_task is ours.

create or replace function job.take_job(
  tasks text[],
  priority smallint,
  due_at timestamptz,
  out id bigint,
  out payload json,
  out run_at timestamptz
)
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
    array_agg(task.id) filter (where task.identifier = any (take_job.tasks)),
    bool_or(task.identifier like job.name_task('%') and task.identifier <> all (take_job.tasks))
  into _tasks, _has_others
  from graphile_worker._private_tasks task;

  if not _has_others then
    -- No other language's task exists, so graphile-worker's own order and index do.
    delete from graphile_worker._private_jobs taken
    where taken.id = (
      select j.id from graphile_worker._private_jobs j
      where j.is_available and (j.priority, j.run_at) >= (take_job.priority, take_job.due_at) and j.run_at <= now()
        and j.task_id = any (_tasks)
      order by j.priority, j.run_at limit 1
      for update skip locked
    )
    -- A job of another priority says nothing of where the queue begins.
    returning taken.id, taken.payload, case when taken.priority = 0 then job.begin_turn(taken.run_at) end
    into take_job.id, take_job.payload, take_job.run_at;
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
        and (j.priority, j.run_at) >= (take_job.priority, take_job.due_at) and j.run_at <= now()
      order by j.priority, j.run_at limit 1
    ) first
    order by first.priority, first.run_at
  loop
    delete from graphile_worker._private_jobs taken
    where taken.id = (
      select j.id from graphile_worker._private_jobs j
      where j.task_id = _task and j.is_available
        and (j.priority, j.run_at) >= (take_job.priority, take_job.due_at) and j.run_at <= now()
      order by j.priority, j.run_at limit 1
      for update skip locked
    )
    returning taken.id, taken.payload, case when taken.priority = 0 then job.begin_turn(taken.run_at) end
    into take_job.id, take_job.payload, take_job.run_at;
    exit when found;
  end loop;
end
$$;
comment on function job.take_job is 'Removes from the queue the first job of these tasks that is due, from this priority and time on, and returns it; nulls: there is none. run_at is null for one that does not have the usual priority.';
