-- A bare row in the queue wakes nobody: whoever has put some there says so once.

create or replace function job.wake_workers(jobs integer) returns void
language sql security definer set search_path = ''
as $$
  -- graphile-worker's own channel and count; "task" lets those pass by who take other jobs. The number at random keeps one
  -- apart from others of its transaction, of which PostgreSQL would deliver one alone if they said the same.
  select pg_notify('jobs:insert', '{"task": "execute", "count": ' || wake_workers.jobs || ', "r": ' || random() || '}')
$$;
comment on function job.wake_workers is 'Tells workers that so many executions were enqueued.';
