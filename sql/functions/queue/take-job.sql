-- Removes a job instead of marking it as taken, which is one index update instead of nine: from here on the log says who has
-- the submission (runledger.take_execution). graphile-worker's own statement can only mark. Columns and indexes are those of
-- the version that package.json pins; runledger_by_task is ours.

create or replace function job.take_job(
  tasks text[],
  priority smallint,
  due_at timestamptz,
  out id bigint,
  out payload json,
  out run_at timestamptz
)
language plpgsql
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
    -- In graphile-worker's own order, by its own index: the first that is due is one of them.
    delete from graphile_worker._private_jobs taken
    where taken.id = (
      select j.id from graphile_worker._private_jobs j
      where j.is_available and (j.priority, j.run_at) >= (take_job.priority, take_job.due_at) and j.run_at <= now()
        and j.task_id = any (_tasks)
      order by j.priority, j.run_at limit 1
      for update skip locked
    )
    -- One that was given back goes before all others, whenever they were due: the queue does not begin where it was.
    returning taken.id, taken.payload, case when taken.priority = 0 then taken.run_at end
    into take_job.id, take_job.payload, take_job.run_at;
    return;
  end if;

  -- Thousands that this worker cannot run may come before one that it can, and the other index reads each of them
  -- (bench/README.md). So each task is asked for its first, by an index of ours, and the tasks are tried in the order of
  -- those. One job alone is locked, as who passes by a locked one takes it for gone.
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
    returning taken.id, taken.payload, case when taken.priority = 0 then taken.run_at end
    into take_job.id, take_job.payload, take_job.run_at;
    exit when found;
  end loop;
end
$$;
comment on function job.take_job is 'Removes from the queue the first job of these tasks that is due, from this priority and time on, and returns it; nulls: there is none. run_at is null for one that does not have the usual priority.';
