-- Two signals: a killed worker's session lock is gone at once; a frozen one stops renewing its lease.

create or replace function runledger.is_worker_alive(worker_id uuid, lease interval default interval '15 seconds') returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (
    select from runledger.worker
    where worker.id = is_worker_alive.worker_id
      and worker.stopped_at is null
      and worker.renewed_at > now() - is_worker_alive.lease
      and (
        exists (
          select from pg_catalog.pg_locks
          where locktype = 'advisory' and classid = 71830 and objid = worker.lock_key::oid
            and database = (select oid from pg_catalog.pg_database where datname = current_database())
        )
        -- A restart of PostgreSQL frees every lock: the workers get time to take theirs again.
        or pg_catalog.pg_postmaster_start_time() > now() - interval '20 seconds'
      )
  )
$$;
comment on function runledger.is_worker_alive is 'False for a worker that stopped, was lost (its session lock (71830, lock_key) is free), or did not renew within the lease.';
