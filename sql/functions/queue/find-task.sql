-- graphile-worker wants a task's number, which none of its views shows.

create or replace function job.find_task(identifier text) returns integer
language sql stable
as $$
  select task.id from graphile_worker._private_tasks task where task.identifier = find_task.identifier
$$;
comment on function job.find_task is 'graphile-worker''s number of a task; null when no worker and no job was ever of it.';
