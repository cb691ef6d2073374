-- Removes jobs instead of marking them, as graphile-worker does: one index update instead of nine. The log says who has the
-- submissions; a lost attempt is enqueued again (runledger.interrupt_execution).

create or replace function job.take_jobs(
  programs jsonb,
  runs text[],
  since timestamptz,
  out taken job.execution[],
  out is_empty boolean,
  out is_large boolean
)
language plpgsql set plan_cache_mode = force_generic_plan
as $$
declare
  -- Plain 'execute' holds jobs of earlier releases, in any language.
  _tasks text[] := array(
    select 'execute' union all select job.name_task(name) from jsonb_object_keys(take_jobs.programs) name
  );
  -- The index keeps taken jobs until vacuum, all before the first waiting one. Passing ten thousand takes as long as
  -- all the rest here.
  _priority smallint := case when take_jobs.since is null then -32768 else 0 end;
  _due_at timestamptz := coalesce(take_jobs.since, '-infinity');
  _most integer := cardinality(take_jobs.runs);
  _bytes integer := 0;
  _put_back integer := 0;
  _deferred integer := 0;
  _count integer;
  _turn bigint;
  _job record;
begin
  taken := '{}';
  is_empty := false;
  is_large := false;
  while cardinality(taken) < _most and not is_empty and not is_large loop
    _count := 0;
    for _job in
      select
        locked.id, locked.run_at, locked.payload ->> 'language' as language, (locked.payload ->> 'submission')::uuid as submission_id,
        (locked.payload ->> 'account')::uuid as account_id, (locked.payload ->> 'debt')::bigint as debt,
        coalesce((locked.payload ->> 'bytes')::integer, 0) as bytes
      from job.lock_jobs(_tasks, _priority, _due_at, _most - cardinality(taken)) locked
    loop
      _count := _count + 1;
      if _job.language is null then
        raise exception 'job % names no language', _job.id using errcode = 'RL007';
      end if;
      if not take_jobs.programs ? _job.language then
        -- The log makes the job anew, with its language's task. Among thousands of such, the next call goes on.
        perform job.enqueue_execute(_job.submission_id);
        _put_back := _put_back + 1;
        is_empty := _put_back = 100;
        exit when is_empty;
        continue;
      end if;
      -- One that comes too early after so many is begun all the same: no slot waits for long.
      if _job.run_at is not null and _deferred < 200 and job.read_debt(_job.account_id) > _job.debt then
        _deferred := _deferred + 1;
        delete from graphile_worker._private_jobs j where j.id = _job.id;
        perform job.defer_turn(row(
          _job.submission_id, _job.language, false, null, _job.account_id, _job.debt, _job.bytes
        )::job.place);
        -- Those behind it may come before it or after it. And not through all that was just removed again.
        _priority := 0;
        _due_at := _job.run_at;
        exit;
      end if;
      taken := taken || row(
        _job.id, take_jobs.runs[cardinality(taken) + 1], _job.submission_id, _job.language, _job.run_at
      )::job.execution;
      _turn := greatest(_turn, job.read_turn(_job.run_at));
      -- Small ones gain by company; large ones would keep each other waiting on their way.
      _bytes := _bytes + _job.bytes;
      is_large := _bytes > 128 * 1024;
      exit when is_large;
    end loop;
    delete from graphile_worker._private_jobs j where j.id = any (array(select t.job_id from unnest(taken) t));
    if _count = 0 then
      is_empty := _due_at = '-infinity';
      _priority := -32768;
      _due_at := '-infinity';
    end if;
  end loop;
  if is_large and cardinality(taken) < _most then
    -- Those behind it were locked, and another worker may have taken them for gone.
    perform job.wake_workers(1);
  end if;
  perform job.begin_turn(_turn);
end
$$;
comment on function job.take_jobs is 'Removes from the queue as many jobs as there are runs, in languages of programs, in their order; fewer when no more wait (is_empty), or what they are to run is large, 128 KiB in all (is_large). since: as runledger.take_several.';
