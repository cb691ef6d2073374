-- Takes a job and begins its attempt in one statement. The job's row is gone then (job.take_job); a lost attempt is
-- enqueued again (runledger.interrupt_execution).

create or replace function runledger.take_execution(
  worker_id uuid,
  run text,
  schema_version integer,
  data jsonb,
  programs jsonb,
  metadata jsonb,
  unanswered text[],
  since timestamptz default null,
  under_way text[] default '{}',
  reads_detail boolean default false,
  does text[] default '{}'
) returns table (
  begun_run text,
  job_id bigint,
  task_id integer,
  submission_id uuid,
  language text,
  version integer,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  account_id uuid,
  due_at timestamptz,
  detail bytea
)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  _job record;
  _started record;
  -- Plain 'execute' holds jobs of earlier releases, in any language.
  _tasks text[] := array(
    select 'execute' union all select job.name_task(name) from jsonb_object_keys(take_execution.programs) name
  );
  -- The index keeps taken jobs until vacuum, all before the first waiting one. Passing ten thousand takes as long as
  -- all the rest here.
  _priority smallint := case when take_execution.since is null then -32768 else 0 end;
  _due_at timestamptz := coalesce(take_execution.since, '-infinity');
  _looked_at integer := 0;
  _deferred integer := 0;
begin
  if cardinality(take_execution.unanswered) > 0 then
    -- Runs with lost answers that began are ours already. A server that stood still may also execute an earlier call
    -- after this one.
    select
      0::bigint as id, e.stream_id::text as submission_id, e.data ->> 'language' as language,
      e.data ->> 'run' as run, null::timestamptz as run_at, null::uuid as account_id, null::bigint as debt
    into _job
    from runledger.pending
    join runledger.event e on e.stream_id = pending.submission_id
    where e.type = 'execution.started' and e.data ->> 'run' = any (take_execution.unanswered)
      and not exists (
        select from runledger.event later
        where later.stream_id = e.stream_id and later.stream_version > e.stream_version
      )
    limit 1;
  end if;

  -- An order holds from its commit on, heard or not. Attempts already begun are still handed out.
  if _job is null and exists (
    select from runledger.worker w where w.id = take_execution.worker_id and w.wanted <> 'working'
  ) then
    return;
  end if;

  loop
    if _job is null then
      -- What this worker cannot do is put back. Among thousands of it, the next call goes on.
      if _looked_at - _deferred = 100 then
        return;
      end if;
      _looked_at := _looked_at + 1;
      select
        taken.id, taken.payload ->> 'submission' as submission_id, taken.payload ->> 'language' as language,
        take_execution.run as run, taken.run_at,
        (taken.payload ->> 'account')::uuid as account_id, (taken.payload ->> 'debt')::bigint as debt
      into _job
      from job.take_job(_tasks, _priority, _due_at) taken
      where taken.id is not null;
      if not found then
        if _due_at = '-infinity' then
          return;
        end if;
        _priority := -32768;
        _due_at := '-infinity';
        continue;
      end if;
    end if;
    if _job.language is null then
      raise exception 'job % names no language', _job.id using errcode = 'RL007';
    end if;
    if not take_execution.programs ? _job.language then
      -- The log makes the job anew, with its language's task.
      perform job.enqueue_execute(_job.submission_id::uuid);
      _job := null;
      continue;
    end if;
    -- One that comes too early after so many is begun all the same: no slot waits for long.
    if _job.run_at is not null and job.read_debt(_job.account_id) > _job.debt and _deferred < 200 then
      _deferred := _deferred + 1;
      perform job.defer_turn(_job.submission_id::uuid, _job.language, _job.account_id, _job.debt);
      -- Not through all that was just removed again.
      _priority := 0;
      _due_at := _job.run_at;
      _job := null;
      continue;
    end if;

    select s.version, s.code, s.stdin, s.expected_stdout, s.account_id, s.detail into _started
    from runledger.start_execution(
      _job.submission_id::uuid, take_execution.worker_id, take_execution.schema_version,
      take_execution.data || (take_execution.programs -> _job.language)
        || jsonb_build_object('run', _job.run, 'language', _job.language),
      take_execution.metadata, take_execution.under_way,
      case when take_execution.reads_detail then array(select jsonb_object_keys(take_execution.programs)) end,
      take_execution.does
    ) s;
    if found then
      return query select
        _job.run, _job.id,
        -- The one task that workers of every release know.
        job.find_task('execute'),
        _job.submission_id::uuid, _job.language,
        _started.version, _started.code, _started.stdin, _started.expected_stdout, _started.account_id,
        _job.run_at, _started.detail;
      return;
    end if;
    _job := null; -- it has ended or runs elsewhere
  end loop;
end
$$;
comment on function runledger.take_execution is 'Takes the next job in a language of programs from the queue and begins its attempt as start_execution does; data.run is `run`, and programs has what data says of each language. No row: nothing waits, or the worker is to take nothing. since: none that waits at the usual priority is due earlier, as far as the caller knows from due_at; he is to forget that within moments, as one may have come that is, or that was given back. unanswered: runs of earlier calls whose answers were lost; one that did begin is handed out first. under_way: as start_execution. reads_detail: the worker does what a submission''s detail asks. does: as start_execution. RL005: as start_execution. Any other error: this job needs to be looked at; nothing was taken.';
