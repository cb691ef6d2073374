-- Hands out a job and begins its attempt in one statement: where a worker would ask the queue and then the log, it asks
-- once. The job's row is removed instead of being marked as taken, which is one index update instead of nine: from here on
-- the log says who has the submission, and whoever loses the attempt enqueues it again (runledger.interrupt_execution).

drop function if exists runledger.take_execution(uuid, text, integer, jsonb, jsonb, jsonb, text[]);
drop function if exists runledger.take_execution(uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz);

create or replace function runledger.take_execution(
  worker_id uuid,
  run text,
  schema_version integer,
  data jsonb,
  programs jsonb,
  metadata jsonb,
  sought text[],
  since timestamptz default null,
  held text[] default '{}'
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
  due_at timestamptz
)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  _job record;
  _started record;
  -- From where on the queue is looked through.
  _priority smallint := case when take_execution.since is null then -32768 else 0 end;
  _due_at timestamptz := coalesce(take_execution.since, '-infinity');
begin
  if cardinality(take_execution.sought) > 0 then
    -- Their answers were lost, perhaps after the commit: then the attempt of such a run is ours already. Or they were never
    -- heard: a server that stood still may execute after this call what it was asked before it.
    select
      0::bigint as id, task.id as task_id, e.stream_id::text as submission_id, e.data ->> 'language' as language,
      e.data ->> 'run' as run, null::timestamptz as run_at
    into _job
    from runledger.pending
    join runledger.event e on e.stream_id = pending.submission_id
    join graphile_worker._private_tasks task on task.identifier = 'execute' -- it runs no task that it does not know
    where e.type = 'execution.started' and e.data ->> 'run' = any (take_execution.sought)
      and not exists (
        select from runledger.event later
        where later.stream_id = e.stream_id and later.stream_version > e.stream_version
      )
    limit 1;
  end if;

  loop
    if _job is null then
      delete from graphile_worker._private_jobs
      where id = (
        -- In graphile-worker's own order, by its own index. What was taken stays in it until somebody vacuums, and all of
        -- that lies before the first that waits: to pass ten thousand by takes as long as all the rest here.
        select j.id from graphile_worker._private_jobs j
        where j.is_available and (j.priority, j.run_at) >= (_priority, _due_at) and j.run_at <= now()
          and j.task_id = (select task.id from graphile_worker._private_tasks task where task.identifier = 'execute')
        order by j.priority, j.run_at limit 1
        for update skip locked
      )
      returning
        _private_jobs.id, _private_jobs.task_id, payload ->> 'submission' as submission_id, payload ->> 'language' as language,
        -- One that was given back goes before all others, whenever they were due: nothing begins where it was.
        take_execution.run as run, case when priority = 0 then run_at end as run_at
      into _job;
      if not found then
        if _due_at = '-infinity' then
          return;
        end if;
        _priority := -32768;
        _due_at := '-infinity';
        continue;
      end if;
    end if;
    if not take_execution.programs ? coalesce(_job.language, '') then
      raise exception 'job % is in a language that this worker does not know', _job.id using errcode = 'RL007';
    end if;

    select s.version, s.code, s.stdin, s.expected_stdout, s.account_id into _started
    from runledger.start_execution(
      _job.submission_id::uuid, take_execution.worker_id, take_execution.schema_version,
      take_execution.data || (take_execution.programs -> _job.language)
        || jsonb_build_object('run', _job.run, 'language', _job.language),
      take_execution.metadata, take_execution.held
    ) s;
    if found then
      return query select
        _job.run, _job.id, _job.task_id, _job.submission_id::uuid, _job.language,
        _started.version, _started.code, _started.stdin, _started.expected_stdout, _started.account_id,
        _job.run_at;
      return;
    end if;
    _job := null; -- it has ended, or runs elsewhere: there was nothing left to do
  end loop;
end
$$;
comment on function runledger.take_execution is 'Takes the next job of task execute from the queue and begins its attempt as start_execution does; data.run is `run`, and programs has what data says of each language. No row: nothing waits. since: none that waits at the usual priority is due earlier, as far as the caller knows from due_at; he is to forget that within moments, as one may have come that is, or that was given back. sought: runs of earlier calls whose answers were lost; one that did begin is handed out first. held: as start_execution. RL005: as start_execution. Any other error: this job needs to be looked at; nothing was taken.';
