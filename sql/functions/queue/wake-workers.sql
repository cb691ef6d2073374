-- Rows of job.enqueue_first wake nobody; their writers call this once.

create or replace function job.wake_workers(jobs integer) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  -- graphile-worker's channel and count; "task" spares workers of other jobs. The random number keeps PostgreSQL from
  -- merging equal notifications.
  select pg_notify('jobs:insert', '{"task": "execute", "count": ' || wake_workers.jobs || ', "r": ' || random() || '}')
$$;
comment on function job.wake_workers is 'Tells workers that so many executions were enqueued.';
