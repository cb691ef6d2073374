-- Starts the attempts of jobs that a worker was handed. The version of execution.started is the fencing token.

create or replace function runledger.start(
  worker_id uuid, submission_ids uuid[], runs text[], languages text[], data jsonb, programs jsonb, offers jsonb,
  capabilities jsonb, metadata jsonb, under_way text[] default '{}'
) returns table (
  submission_id uuid, run text, version integer, account_id uuid, code bytea, stdin bytea, expected_stdout bytea, detail bytea,
  total_seconds integer, cores double precision, has_webhook boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Sorted, so that only partitions between the first and the last id are read.
  _ids constant uuid[] := array(select id from unnest(start.submission_ids) id order by id);
  _now constant timestamptz := clock_timestamp();
  _worker record;
  _started uuid[];
  _left record;
begin
  -- A start does not wait for the disk. If a crash loses it, the submission is still queued, the next start takes the same
  -- version, and this attempt's end is refused because that event has another run. Later events wait for the disk, and so put
  -- this one on disk too.
  perform set_config('synchronous_commit', 'off', true);

  select w.wanted, w.stopped_at is not null as is_lost into _worker
  from runledger.worker w where w.id = start.worker_id;
  if _worker.is_lost then
    -- The sweep has finished with this worker, so no process would rescue these attempts.
    raise exception 'worker % was given up', start.worker_id using errcode = 'RL005';
  end if;
  -- A command takes effect at its commit, whether or not the worker knows of it.
  if _worker.wanted <> 'working' then
    raise exception 'worker % is to take nothing', start.worker_id using errcode = 'RL027';
  end if;

  with startable as materialized (
    select
      p.submission_id, p.version + 1 as version, p.hash as previous_hash,
      runledger.start_data(
        start.data || (start.programs -> p.language)
          || jsonb_build_object('run', i.run, 'language', p.language, 'total_seconds', tier.total_seconds),
        p.requires, tier.cores, p.attempts + 1
      ) as data
    from unnest(start.submission_ids, start.runs, start.languages) i (id, run, language)
    join runledger.pending p on p.submission_id = i.id
    left join runledger.api_key k on k.id = p.api_key_id
    left join runledger.tier on tier.name = k.tier
    where p.submission_id = any (start.submission_ids) and p.admitted and not p.is_running and p.language = i.language
      and runledger.suits_worker(p.language, p.requires, start.offers, start.capabilities)
    -- Not by p.submission_id, because a plan may then read the whole queue in the order of that index.
    order by i.id for update of p
  ), started as (
    update runledger.pending p
    set version = s.version, is_running = true, attempts = p.attempts + 1, run = s.data ->> 'run', worker_id = start.worker_id,
      runtime = s.data ->> 'runtime', limits = s.data -> 'limits', started_at = _now,
      hash = runledger.hash_event(
        s.previous_hash, s.submission_id, s.version, 'execution.started', 1, s.data, start.metadata, _now
      )
    from startable s
    where p.submission_id = any (start.submission_ids) and p.submission_id = s.submission_id
    returning p.submission_id, p.version, p.hash, s.data
  ), appended as (
    insert into runledger.event as e (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select b.submission_id, b.version, 'execution.started', 1, b.data, start.metadata, _now, b.hash from started b
    on conflict do nothing
    returning e.stream_id
  )
  select coalesce(array_agg(appended.stream_id), '{}') into _started from appended;

  if cardinality(_started) < cardinality(start.submission_ids) then
    for _left in
      select i.id, i.run, i.language from unnest(start.submission_ids, start.runs, start.languages) i (id, run, language)
      where i.id <> all (_started)
    loop
      if runledger.start_otherwise(
        _left.id, _left.run, _left.language, start.worker_id, start.offers, start.capabilities, start.metadata,
        start.under_way
      ) then
        perform from runledger.start(
          start.worker_id, array[_left.id], array[_left.run], array[_left.language], start.data, start.programs, start.offers,
          start.capabilities, start.metadata, start.under_way
        );
      end if;
    end loop;
  end if;

  return query
    select
      p.submission_id, p.run, p.version, p.account_id, body.code, body.stdin, body.expected_stdout, body.detail,
      (e.data ->> 'total_seconds')::integer, (e.data #>> '{limits,cores}')::double precision,
      exists (select from runledger.delivery d where d.submission_id = i.id)
    from unnest(start.submission_ids, start.runs) i (id, run)
    join runledger.pending p on p.submission_id = i.id and p.run = i.run and p.is_running and not p.is_cancelled
    join runledger.event e on e.stream_id = i.id and e.stream_version = p.version
      and e.stream_id between _ids[1] and _ids[cardinality(_ids)]
    left join runledger.body on body.submission_id = i.id and body.submission_id between _ids[1] and _ids[cardinality(_ids)];
end
$$;
comment on function runledger.start is 'Appends execution.started for each submission, and returns what the worker must run (code is null when the body is purged) and its account; a repeated call with the same run returns the same. languages: of the jobs that were handed out. data: the event''s data about the worker; programs: the event''s data about each of these languages. offers, capabilities: as in runledger.suits_worker. under_way: runs that this worker has under way. No row: the submission has ended or is not admitted, runs on this or another live worker, or is enqueued again because its language differs from the job''s or the worker does not suit it. A row that differs from the log is repaired first. RL005: this worker was declared lost and must register under a new id. RL027: this worker must take nothing.';

create or replace function runledger.start_otherwise(
  submission_id uuid, run text, language text, worker_id uuid, offers jsonb, capabilities jsonb, metadata jsonb,
  under_way text[]
) returns boolean
language plpgsql
as $$
declare
  _p runledger.pending;
begin
  -- A row that differs from the log is repaired first.
  perform runledger.refresh_submissions(array[start_otherwise.submission_id]);
  select * into _p from runledger.pending p where p.submission_id = start_otherwise.submission_id for update;
  if not found or not _p.admitted or _p.is_cancelled then
    return false; -- the worker that runs it ends it, or else the reconciler
  end if;
  if _p.is_running then
    if _p.run = start_otherwise.run -- a repeated call, because the answer was lost
      or _p.run = any (start_otherwise.under_way)
      -- If that worker is lost later, the sweep enqueues the submission again.
      or _p.worker_id <> start_otherwise.worker_id and runledger.is_worker_alive(_p.worker_id)
    then
      return false;
    end if;
    _p := runledger.append_interrupted(
      _p, 1, '{"reason": "superseded", "spends_attempt": true}', start_otherwise.metadata
    );
  end if;
  if _p.language is distinct from start_otherwise.language then
    -- The job's task names a wrong language.
    perform job.enqueue_executions(array[_p.submission_id]);
    return false;
  elsif not runledger.suits_worker(_p.language, _p.requires, start_otherwise.offers, start_otherwise.capabilities) then
    -- A suitable worker may come soon. The longer the submission has waited for one, the longer the delay.
    perform job.enqueue_executions(
      array[_p.submission_id], least(60, 1 + extract(epoch from clock_timestamp() - _p.created_at) / 10)::integer
    );
    return false;
  end if;
  return true;
end
$$;
comment on function runledger.start_otherwise is 'Handles a job whose submission does not simply wait to be started (runledger.start): interrupts an attempt that no worker has under way, and enqueues the job again if it is for another worker. True: the submission can be started now.';

create or replace function runledger.requeue_jobs(submission_ids uuid[], lost_by text[] default '{}') returns integer
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select job.enqueue_executions(array(
    select p.submission_id from runledger.pending p
    where p.submission_id = any (requeue_jobs.submission_ids || array(
        -- A job that was added by hand may have any key.
        select case when j.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then j.key::uuid end from graphile_worker.jobs j
        where j.task_identifier like 'execute:%' and requeue_jobs.lost_by <> '{}' and j.locked_by = any (requeue_jobs.lost_by)
          and j.locked_at < clock_timestamp() - interval '500 milliseconds'
      ))
      and p.admitted and not p.is_running
  ))
$$;
comment on function runledger.requeue_jobs is 'Requeues, each at its position, jobs that a worker was handed and does not start: those of submission_ids, because the worker must take nothing, and those that its pools lost_by were handed at least half a second ago, because their connection lost the answer. Returns how many. If the worker has started one meanwhile, the new job does nothing.';
