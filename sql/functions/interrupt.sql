-- Attempts that are lost, and submissions that are cancelled: the submission runs again, is abandoned, or ends because its
-- caller has cancelled it. A worker reports its own losses; the sweep reports those of lost workers.

create or replace function runledger.interrupt(
  submission_id uuid, started_version integer, run text, schema_version integer, data jsonb, metadata jsonb,
  is_last boolean default false
) returns table (outcome text, waiters text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- The attempts that failures of the service may cost before a submission ends with verdict IE.
  _most_losses constant integer := 3;
  _p runledger.pending;
  _losses integer;
begin
  perform runledger.lock_submissions(array[interrupt.submission_id]);
  select p.* into _p from runledger.pending p
  where p.submission_id = interrupt.submission_id and p.is_running and p.run = coalesce(interrupt.run, p.run)
    and p.version - p.is_cancelled::integer = interrupt.started_version;
  if not found then
    -- A crash of PostgreSQL may have lost this run's start.
    outcome := case when interrupt.run is null or exists (
      select from runledger.event e
      where e.stream_id = interrupt.submission_id and e.stream_version = interrupt.started_version
        and e.data ->> 'run' = interrupt.run
    ) then 'superseded' else 'start_lost' end;
    return next;
    return;
  end if;

  if not _p.is_cancelled then
    _p := runledger.append_interrupted(_p, interrupt.schema_version, interrupt.data, interrupt.metadata);
    select count(*) filter (where (e.data ->> 'spends_attempt')::boolean) into _losses
    from runledger.event e
    where e.stream_id = _p.submission_id and e.type = 'execution.interrupted';
  end if;
  if _p.is_cancelled or interrupt.is_last or _losses >= _most_losses then
    outcome := 'ended';
    waiters := (runledger.end_submissions(jsonb_build_array(jsonb_build_object(
      'submission_id', _p.submission_id, 'started_version', _p.version, 'schema_version', 1, 'metadata', interrupt.metadata,
      'type', case when _p.is_cancelled then 'submission.cancelled' else 'execution.abandoned' end,
      'data', case
        when _p.is_cancelled then jsonb_build_object('lost', interrupt.data -> 'reason')
        else jsonb_build_object('losses', _losses)
      end
    ))))[1].waiters;
  else
    outcome := 'requeued';
    perform job.enqueue_executions(
      array[_p.submission_id],
      -- The first loss is mostly a deploy or a crash of the service: no delay. After that, the submission may be the cause.
      case when (interrupt.data ->> 'spends_attempt')::boolean then greatest(_losses - 1, 0) else 0 end
    );
  end if;
  return next;
end
$$;
comment on function runledger.interrupt is 'Records the loss of an attempt. started_version, run (null: any): of its execution.started. schema_version, data: of execution.interrupted. is_last: a further attempt would fail too. outcome: requeued: the next attempt is enqueued; ended: by execution.abandoned, because it was the last attempt or three were lost, or by submission.cancelled, because that was requested; superseded: nothing was written, another event has ended this attempt; start_lost: nothing was written, this run''s start is not in the log. waiters: as in runledger.conclude.';

create or replace function runledger.cancel(submissions uuid[], account_id uuid, metadata jsonb)
returns table (submission_id uuid, state text, waiters text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Looked up by id, because no index supports this comparison of accounts.
  _ids constant uuid[] := array(
    select s.id from runledger.submission s
    where s.id = any (cancel.submissions) and s.account_id is not distinct from cancel.account_id
    order by s.id
  );
  _p runledger.pending;
  _hash bytea;
begin
  perform runledger.lock_submissions(_ids);
  foreach submission_id in array _ids loop
    waiters := null;
    select p.* into _p from runledger.pending p where p.submission_id = cancel.submission_id;
    if not found then
      state := 'ended';
    elsif _p.is_running then
      state := 'requested';
      if not _p.is_cancelled then
        _hash := runledger.append_event(
          _p.submission_id, _p.version + 1, 'submission.cancel_requested', 1,
          jsonb_build_object('attempt', _p.attempts, 'run', _p.run, 'worker', _p.worker_id), cancel.metadata, _p.hash
        );
        update runledger.pending p set is_cancelled = true, version = _p.version + 1, hash = _hash
        where p.submission_id = _p.submission_id;
      end if;
    else
      state := 'cancelled';
      perform graphile_worker.remove_job(_p.submission_id::text);
      waiters := (runledger.end_submissions(jsonb_build_array(jsonb_build_object(
        'submission_id', _p.submission_id, 'started_version', _p.version, 'type', 'submission.cancelled',
        'schema_version', 1, 'data', '{}'::jsonb, 'metadata', cancel.metadata
      ))))[1].waiters;
    end if;
    return next;
  end loop;
end
$$;
comment on function runledger.cancel is 'Cancels submissions of the account; one row for each that the account has. cancelled: it waited and has ended; requested: it runs, and the caller must notify its worker after the commit (runledger_cancel); ended: it had ended before. waiters: as in runledger.conclude.';

create or replace function runledger.append_interrupted(
  pending runledger.pending, schema_version integer, data jsonb, metadata jsonb
) returns runledger.pending
language plpgsql
as $$
declare
  _pending runledger.pending := append_interrupted.pending;
  _hash constant bytea := runledger.append_event(
    _pending.submission_id, _pending.version + 1, 'execution.interrupted', append_interrupted.schema_version,
    append_interrupted.data, append_interrupted.metadata, _pending.hash
  );
begin
  update runledger.pending p
  set is_running = false, is_parked = false, version = _pending.version + 1, hash = _hash
  where p.submission_id = _pending.submission_id
  returning p.* into _pending;
  return _pending;
end
$$;
comment on function runledger.append_interrupted is 'Appends execution.interrupted to a running submission and returns its new row. The submission has no job then.';
