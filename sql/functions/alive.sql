-- PostgreSQL frees a killed worker's session lock at once, and a frozen worker stops renewing its lease. Connections break
-- and PostgreSQL restarts, so a worker without its lock still counts as alive if it renewed a moment ago, or if PostgreSQL
-- started so recently that the worker cannot have taken the lock again.

create or replace function runledger.is_worker_alive(worker_id uuid) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from runledger.worker w
    where w.id = is_worker_alive.worker_id
      and w.stopped_at is null
      and w.renewed_at > now() - make_interval(secs => w.lease_seconds)
      and (
        w.renewed_at > now() - make_interval(secs => w.lease_seconds / 15)
        or exists (
          select from pg_catalog.pg_locks l
          where l.locktype = 'advisory' and l.classid = 71830 and l.objid = w.lock_key::oid
            and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
        )
        or pg_catalog.pg_postmaster_start_time() > now() - make_interval(secs => w.lease_seconds + 5)
      )
  )
$$;
comment on function runledger.is_worker_alive is 'False for a worker that has stopped, has not renewed within its lease, or has lost its session lock (71830, lock_key). The lock may be missing for a fifteenth of the lease after a renewal, and for the lease and 5 s after a start of PostgreSQL.';
