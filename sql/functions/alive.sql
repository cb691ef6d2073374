-- Which workers live, what they offer, and what they can run.

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

create or replace function runledger.list_recent_language(period interval)
returns table (name text, version text, offer bigint, is_offered_now boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select language.key, coalesce(language.value ->> 'version', ''), offered.offer, offered.is_offered_now
  from (
    select
      worker.languages, row_number() over (order by worker.languages) as offer,
      bool_or(worker.stopped_at is null) as is_offered_now
    from runledger.worker
    where worker.stopped_at is null or worker.stopped_at > now() - list_recent_language.period
    group by worker.languages
  ) offered
  cross join lateral jsonb_each(offered.languages) language
$$;
comment on function runledger.list_recent_language is 'Returns the languages that workers have run within the period, up to now, each with the version of such a worker. offer: rows with the same number are offered by one worker; workers with equal offers share a number. is_offered_now: one of these workers has not stopped.';

-- A worker of an earlier release would ignore options of a submission's detail that it does not know. A worker without the
-- checker's language could not judge the submission.

create or replace function runledger.suits_worker(language text, requires jsonb, offers jsonb, capabilities jsonb) returns boolean
language sql stable
as $$
  select suits_worker.offers ? suits_worker.language and (
    not coalesce(suits_worker.requires ? 'detail', false)
    or coalesce(suits_worker.offers ? (suits_worker.requires ->> 'checker_language'), true)
      and coalesce(suits_worker.requires -> 'demands' <@ suits_worker.capabilities, true)
  )
$$;
comment on function runledger.suits_worker is 'Whether a worker can run a submission. language, requires: of runledger.pending. offers, capabilities: the languages and the capabilities of the worker, as arrays.';

create or replace function runledger.start_data(data jsonb, received jsonb, cores integer, attempt integer) returns jsonb
-- Not SQL: most submissions ask for nothing, and this returns for them without a query.
language plpgsql stable
as $$
declare
  _data jsonb := start_data.data || jsonb_build_object('attempt', start_data.attempt);
begin
  if start_data.received ? 'limits' or start_data.cores is not null then
    _data := _data || jsonb_build_object(
      'limits',
      -- The worker's limits for the language, by phase, overridden by the submission's own limits.
      _data -> 'limits' || coalesce(
        (
          select jsonb_object_agg(phase, _data -> 'limits' -> phase || own)
          from jsonb_each(start_data.received -> 'limits') asked (phase, own)
          where jsonb_typeof(_data -> 'limits' -> phase) = 'object'
        ),
        '{}'
      )
        -- greatest and least ignore nulls.
        || jsonb_strip_nulls(jsonb_build_object('cores', greatest(
          (_data #>> '{limits,cores}')::numeric,
          case
            when start_data.cores is not null then least(start_data.cores, (_data ->> 'host_cores')::numeric)
          end
        )))
    );
  end if;
  if start_data.received -> 'demands' ? 'network' then
    _data := _data || jsonb_build_object('isolation', (_data -> 'isolation') || '{"network": "loopback"}');
  end if;
  return _data;
end
$$;
comment on function runledger.start_data is 'Returns the data of execution.started. data: the part that the worker reports of itself and of the program, where limits.cores is a slot''s share; received: as requires in runledger.suits_worker; cores: the tier''s cores for a box, or null; attempt: 1, 2, 3 …';
