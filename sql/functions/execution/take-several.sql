-- Takes jobs and begins their attempts in one statement: a worker has several free slots.

create or replace function runledger.take_several(
  worker_id uuid,
  runs text[],
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
  detail bytea,
  total_seconds integer
)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _offers text[] := case when take_several.reads_detail then array(select jsonb_object_keys(take_several.programs)) end;
  -- The one task that workers of every release know.
  _task_id integer := job.find_task('execute');
  _runs text[] := take_several.runs;
  _worker record;
  _taken job.execution[] := '{}';
  _is_empty boolean := false;
  _is_large boolean := false;
begin
  if cardinality(_runs) > 1 then
    -- Who holds one of them may wait for another one. Each is taken by itself then.
    perform set_config('lock_timeout', '10ms', true);
  end if;
  select w.wanted, w.stopped_at is not null as is_given_up into _worker
  from runledger.worker w where w.id = take_several.worker_id;
  -- The sweep has been here: nobody would look for these attempts.
  if _worker.is_given_up then
    raise exception 'worker % was given up', take_several.worker_id using errcode = 'RL005';
  end if;
  if cardinality(take_several.unanswered) > 0 then
    -- Runs with lost answers that began are ours already. A server that stood still may also execute an earlier call
    -- after this one.
    _taken := array(
      select row(0, e.data ->> 'run', e.stream_id, e.data ->> 'language', null)::job.execution
      from runledger.pending
      join runledger.event e on e.stream_id = pending.submission_id
      where e.type = 'execution.started' and e.data ->> 'run' = any (take_several.unanswered)
        and not exists (
          select from runledger.event later
          where later.stream_id = e.stream_id and later.stream_version > e.stream_version
        )
      limit cardinality(_runs)
    );
  end if;

  -- Again, when one of them had ended or runs elsewhere.
  for _round in 1..100 loop
    if cardinality(_taken) > 0 then
      for begun_run, job_id, submission_id, language, version, code, stdin, expected_stdout, account_id, due_at, detail,
        total_seconds in
        select s.* from runledger.start_executions(
          _taken, take_several.worker_id, take_several.schema_version, take_several.data, take_several.programs,
          take_several.metadata, take_several.under_way, _offers, take_several.does
        ) s
      loop
        task_id := _task_id;
        return next;
        _runs := case when begun_run = any (_runs) then array_remove(_runs, begun_run) else _runs[2:] end;
      end loop;
    end if;
    if _is_large or cardinality(_runs) = 0 then
      return;
    end if;
    -- An order holds from its commit on, heard or not. Attempts already begun are still handed out.
    exit when _is_empty or _worker.wanted <> 'working';
    select t.* into _taken, _is_empty, _is_large
    from job.take_jobs(take_several.programs, _runs, take_several.since) t;
  end loop;
  select null
  into begun_run, job_id, task_id, submission_id, language, version, code, stdin, expected_stdout, account_id, due_at, detail,
    total_seconds;
  return next;
end
$$;
comment on function runledger.take_several is 'Takes the next jobs in languages of programs from the queue, at most as many as there are runs, and begins their attempts as start_execution does; data.run is one of runs, and programs has what data says of each language. One row a job; a row of nulls after the last: nothing more waits, or the worker is to take nothing more. Fewer without such a row: what they are to run is large (128 KiB). since: none that waits at the usual priority is due earlier, as far as the caller knows from due_at; he is to forget that within moments, as one may have come that is, or that was given back. unanswered: runs of earlier calls whose answers were lost; those that did begin are handed out first. under_way: as start_execution. reads_detail: the worker does what a submission''s detail asks. does: as start_execution. When one fails (RL005: as start_execution), or of several one would have to wait for a lock (55P03), nothing was taken.';
