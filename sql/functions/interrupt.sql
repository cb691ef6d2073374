-- Attempts that are lost, and submissions that are cancelled: the submission runs again, is abandoned, or ends because its
-- caller has cancelled it. A worker reports its own losses; the sweep and the reconciler report those of lost workers.

create or replace function runledger.interrupt(items jsonb) returns table (outcome text, waiters text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- The attempts that failures of the service may cost before a submission ends with verdict IE.
  _most_losses constant integer := 3;
  _item record;
  _p runledger.pending;
  _losses integer;
begin
  perform runledger.lock_submissions(array(
    select (item ->> 'submission_id')::uuid from jsonb_array_elements(interrupt.items) item
  ));
  for _item in
    select item.* from jsonb_to_recordset(interrupt.items) item (
      submission_id uuid, started_version integer, run text, schema_version integer, data jsonb, metadata jsonb,
      is_last boolean
    )
  loop
    waiters := null;
    select p.* into _p from runledger.pending p
    where p.submission_id = _item.submission_id and p.is_running and p.run = coalesce(_item.run, p.run)
      and p.version - p.is_cancelled::integer = _item.started_version;
    if not found then
      -- A crash of PostgreSQL may have lost this run's start.
      outcome := case when _item.run is null or exists (
        select from runledger.event e
        where e.stream_id = _item.submission_id and e.stream_version = _item.started_version
          and e.data ->> 'run' = _item.run
      ) then 'superseded' else 'start_lost' end;
    else
      if not _p.is_cancelled then
        _p := runledger.append_interrupted(_p, _item.schema_version, _item.data, _item.metadata);
        select count(*) filter (where (e.data ->> 'spends_attempt')::boolean) into _losses
        from runledger.event e
        where e.stream_id = _p.submission_id and e.type = 'execution.interrupted';
      end if;
      if _p.is_cancelled or _item.is_last or _losses >= _most_losses then
        outcome := 'ended';
        waiters := (runledger.end_submissions(jsonb_build_array(jsonb_build_object(
          'submission_id', _p.submission_id, 'started_version', _p.version, 'schema_version', 1, 'metadata', _item.metadata,
          'type', case when _p.is_cancelled then 'submission.cancelled' else 'execution.abandoned' end,
          'data', case
            when _p.is_cancelled then jsonb_build_object('lost', _item.data -> 'reason')
            else jsonb_build_object('losses', _losses)
          end
        ))))[1].waiters;
      else
        outcome := 'requeued';
        perform job.enqueue_executions(
          array[_p.submission_id],
          -- The first loss is mostly a deploy or a crash of the service: no delay. After that, the submission may be the cause.
          case when (_item.data ->> 'spends_attempt')::boolean then greatest(_losses - 1, 0) else 0 end,
          goes_first => true
        );
      end if;
    end if;
    return next;
  end loop;
end
$$;
comment on function runledger.interrupt is 'Records the loss of attempts. items: an array of objects: submission_id, started_version, run (null: any), schema_version and data of execution.interrupted, metadata, is_last (a further attempt would fail too; null: false). Returns one row for each item, in their order. outcome: requeued: the next attempt is enqueued; ended: by execution.abandoned, because it was the last attempt or three were lost, or by submission.cancelled, because that was requested; superseded: nothing was written, another event has ended this attempt; start_lost: nothing was written, this run''s start is not in the log. waiters: as in runledger.conclude.';

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

create or replace function runledger.describe_lost(p runledger.pending) returns jsonb
language sql immutable
as $$
  select jsonb_build_array(jsonb_build_object(
    'submission_id', p.submission_id, 'started_version', p.version - p.is_cancelled::integer, 'schema_version', 1,
    'data', jsonb_build_object('reason', 'worker_lost', 'spends_attempt', true),
    'metadata', jsonb_build_object('actor', jsonb_build_object('sweep_of', p.worker_id))
  ))
$$;
comment on function runledger.describe_lost is 'Returns the item of runledger.interrupt for an attempt whose worker is lost.';
