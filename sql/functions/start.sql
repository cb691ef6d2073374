-- A worker was handed jobs and begins their attempts: execution.started, whose version is the fencing token.

create or replace function runledger.start(
  worker_id uuid,
  submission_ids uuid[],
  runs text[],
  languages text[],
  data jsonb,
  programs jsonb,
  metadata jsonb,
  does text[],
  under_way text[] default '{}'
) returns table (
  submission_id uuid,
  run text,
  version integer,
  account_id uuid,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  detail bytea,
  total_seconds integer,
  cores double precision,
  has_webhook boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  -- Only partitions between the first and the last are looked into.
  _first constant uuid := (select id from unnest(start.submission_ids) id order by id limit 1);
  _last constant uuid := (select id from unnest(start.submission_ids) id order by id desc limit 1);
  _offers constant text[] := array(select jsonb_object_keys(start.programs));
  _worker record;
  _item record;
  _events runledger.new_event[] := '{}';
  _repeated runledger.new_event[] := '{}';
  _with_webhook uuid[] := '{}';
  _version integer;
  _hash bytea;
begin
  -- Not waited for on disk. If a crash forgets it, the submission is still queued, the next start takes the same version, and
  -- this attempt's end is refused, as another run stands there. Later events are waited for, and with them this one.
  perform set_config('synchronous_commit', 'off', true);

  select w.wanted, w.stopped_at is not null as is_given_up into _worker
  from runledger.worker w where w.id = start.worker_id;
  if _worker.is_given_up then
    -- The sweep has been here: nobody would look for these attempts.
    raise exception 'worker % was given up', start.worker_id using errcode = 'RL005';
  end if;
  -- An order holds from its commit on, heard or not.
  if _worker.wanted <> 'working' then
    raise exception 'worker % is to take nothing', start.worker_id using errcode = 'RL027';
  end if;

  for _item in
    select
      i.id, i.run, i.language, tier.total_seconds, tier.cores, head.stream_version, head.type, head.hash, head.data,
      case when head.stream_version = 1 then head.data else first.data end as received
    from unnest(start.submission_ids, start.runs, start.languages) i (id, run, language)
    join runledger.pending p on p.submission_id = i.id
    left join runledger.api_key k on k.id = p.api_key_id
    left join runledger.tier on tier.name = k.tier
    cross join lateral (
      select e.stream_version, e.type, e.hash, e.data from runledger.event e
      where e.stream_id = i.id and e.stream_id between _first and _last
      order by e.stream_version desc limit 1
    ) head
    left join lateral (
      select e.data from runledger.event e
      where head.stream_version > 1 and e.stream_id = i.id and e.stream_id between _first and _last and e.stream_version = 1
    ) first on true
    where p.admitted
  loop
    _version := _item.stream_version + 1;
    _hash := _item.hash;
    if _item.received ->> 'webhook' is not null then
      _with_webhook := _with_webhook || _item.id;
    end if;
    if _item.type = 'execution.started' and _item.data ->> 'run' = _item.run then
      -- This statement, repeated because its answer was lost.
      _repeated := _repeated || row(_item.id, _item.stream_version, _item.type, 1, _item.data, null, null)::runledger.new_event;
      continue;
    elsif _item.type = 'submission.cancel_requested' then
      continue; -- who has it ends it, or the reconciler
    elsif _item.type = 'execution.started' then
      continue when _item.data ->> 'run' = any (start.under_way);
      -- If that worker is lost, the sweep enqueues it again.
      continue when (_item.data ->> 'worker')::uuid <> start.worker_id
        and runledger.is_worker_alive((_item.data ->> 'worker')::uuid);
    elsif _item.type not in ('submission.received', 'execution.interrupted') and exists (
      select from runledger.event e where e.stream_id = _item.id and runledger.closes_submission(e.type)
    ) then
      -- Inserted by hand. A later release's type says nothing of an end.
      delete from runledger.pending p where p.submission_id = _item.id;
      continue;
    end if;

    if _item.language is distinct from _item.received ->> 'language' then
      -- The job's task, a hint, was wrong.
      perform job.enqueue_execution(_item.id);
      continue;
    elsif not runledger.suits_worker(_item.received, _offers, start.does) then
      -- Another worker is about to come; what has waited long for it is asked about less often.
      perform job.enqueue_execution(
        _item.id, least(60, 1 + extract(epoch from clock_timestamp() - runledger.uuid_time(_item.id)) / 10)::integer
      );
      continue;
    elsif _item.type = 'execution.started' then
      -- Its cancel and its end wait, as they do for a first attempt.
      perform from runledger.pending p where p.submission_id = _item.id for update;
      perform runledger.append_event(
        _item.id, _version, 'execution.interrupted', 1, '{"reason": "superseded", "spends_attempt": true}', start.metadata, _hash
      );
      _version := _version + 1;
      select e.hash into _hash from runledger.event e where e.stream_id = _item.id and e.stream_version = _version - 1;
    end if;
    _events := _events || row(
      _item.id, _version, 'execution.started', 1,
      runledger.start_data(
        start.data || (start.programs -> _item.language)
          || jsonb_build_object('run', _item.run, 'language', _item.language, 'total_seconds', _item.total_seconds),
        _item.received, _item.cores,
        case when _version = 2 then 1 else (
          select count(*) + 1 from runledger.event e where e.stream_id = _item.id and e.type = 'execution.started'
        )::integer end
      ),
      start.metadata, _hash
    )::runledger.new_event;
  end loop;

  if cardinality(_events) > 0 then
    -- Its row is this transaction's from here on (runledger.displace_low).
    with running as (
      update runledger.pending p set is_running = true
      where p.submission_id = any (array(select e.stream_id from unnest(_events) e)) and p.admitted
      returning p.submission_id
    )
    select coalesce(array_agg(e), '{}') into _events
    from unnest(_events) e join running on running.submission_id = e.stream_id;
  end if;
  if cardinality(_events) > 0 then
    perform runledger.apply_events(_events, runledger.append_events(_events));
  end if;

  return query
    select
      e.stream_id, e.data ->> 'run', e.stream_version, p.account_id, body.code, body.stdin, body.expected_stdout, body.detail,
      (e.data ->> 'total_seconds')::integer, (e.data #>> '{limits,cores}')::double precision,
      e.stream_id = any (_with_webhook)
    from unnest(_events || _repeated) e
    left join runledger.pending p on p.submission_id = e.stream_id
    left join runledger.body on body.submission_id = e.stream_id and body.submission_id between _first and _last;
end
$$;
comment on function runledger.start is 'Appends execution.started of each submission, and returns what is to be run (code is null when the body is gone) and whose it is; repeated with the same run it returns the same. languages: of the job that was handed out. data: what the event says of the worker; programs: what it says of each language that the worker runs. does: what the worker can do of what submissions demand. under_way: runs that this worker has under way. No row: the submission has ended or is not admitted, runs here or on another live worker, or is enqueued again because it is in another language or asks for what the worker does not do. 23505: another start came first, and nothing was written of any. RL005: this worker was given up and must register under a new id. RL027: it is to take nothing.';

create or replace function runledger.requeue_jobs(submission_ids uuid[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select job.enqueue_execution(p.submission_id)
  from runledger.pending p
  where p.submission_id = any (requeue_jobs.submission_ids) and p.admitted and not p.is_running
$$;
comment on function runledger.requeue_jobs is 'Puts back jobs that a worker was handed and does not begin, as it is to take nothing: each at its position.';

create or replace function runledger.requeue_lost(queue_pool_ids text[]) returns integer
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select count(job.enqueue_execution(p.submission_id))::integer
  from graphile_worker.jobs j
  join runledger.pending p on p.submission_id::text = j.key
  where j.locked_by = any (requeue_lost.queue_pool_ids) and j.locked_at < clock_timestamp() - interval '500 milliseconds'
    and j.task_identifier like 'execute:%' and p.admitted and not p.is_running
$$;
comment on function runledger.requeue_lost is 'Puts back jobs that this worker was handed half a second ago and has not begun: the answer was lost with its connection. Returns how many. Where it has begun one meanwhile, the job does nothing.';
