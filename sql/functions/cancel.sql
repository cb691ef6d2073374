-- Cancels submissions: one that waits ends here, one that runs is marked so that its worker ends it.

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
  _ended runledger.ended_submission[];
  _tries integer := 1;
begin
  perform runledger.lock_submissions(_ids);
  foreach submission_id in array _ids loop
    waiters := null;
    -- A row that differs from the log is repaired, so another try works.
    loop
      select p.* into _p from runledger.pending p where p.submission_id = cancel.submission_id;
      if not found then
        state := 'ended';
        exit;
      elsif _p.is_running then
        state := 'requested';
        exit when _p.is_cancelled;
        begin
          _hash := runledger.append_event(
            _p.submission_id, _p.version + 1, 'submission.cancel_requested', 1,
            jsonb_build_object('attempt', _p.attempts, 'run', _p.run, 'worker', _p.worker_id), cancel.metadata, _p.hash
          );
          update runledger.pending p set is_cancelled = true, version = _p.version + 1, hash = _hash
          where p.submission_id = _p.submission_id;
          exit;
        exception when unique_violation then
          if _tries >= 3 then
            raise;
          end if;
          perform runledger.refresh_submissions(array[_p.submission_id]);
          _tries := _tries + 1;
          continue;
        end;
      end if;
      state := 'cancelled';
      perform graphile_worker.remove_job(_p.submission_id::text);
      _ended := runledger.end_submissions(jsonb_build_array(jsonb_build_object(
        'submission_id', _p.submission_id, 'started_version', _p.version, 'type', 'submission.cancelled',
        'schema_version', 1, 'data', '{}'::jsonb, 'metadata', cancel.metadata
      )));
      waiters := _ended[1].waiters;
      -- Null: end_submissions has repaired the row.
      exit when _ended is not null or _tries >= 3;
      _tries := _tries + 1;
    end loop;
    return next;
  end loop;
end
$$;
comment on function runledger.cancel is 'Cancels submissions of the account; one row for each that the account has. cancelled: it waited and has ended; requested: it runs, and the caller must notify its worker after the commit (runledger_cancel); ended: it had ended before. waiters: as in runledger.conclude.';
