-- A caller takes submissions back: what waits ends here, what runs is marked for its worker to end.

create or replace function runledger.cancel(submissions uuid[], account_id uuid, metadata jsonb)
returns table (submission_id uuid, state text, waiters text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _ids uuid[] := array(
    select r.id from runledger.result r
    where r.id = any (cancel.submissions) and r.account_id = cancel.account_id
    order by r.id
  );
  _head record;
begin
  perform from runledger.pending p where p.submission_id = any (_ids) order by p.submission_id for update;
  foreach submission_id in array _ids loop
    waiters := null;
    select e.stream_version as version, e.type, e.hash, e.data into strict _head
    from runledger.event e
    where e.stream_id = cancel.submission_id
    order by e.stream_version desc limit 1;
    if exists (
      select from runledger.event e
      where e.stream_id = cancel.submission_id and runledger.closes_submission(e.type)
    ) then
      state := 'ended';
    elsif _head.type = 'submission.cancel_requested' then
      state := 'requested';
    elsif _head.type = 'execution.started' then
      state := 'requested';
      perform runledger.append_event(
        cancel.submission_id, _head.version + 1, 'submission.cancel_requested', 1,
        jsonb_build_object(
          'attempt', _head.data -> 'attempt', 'run', _head.data -> 'run', 'worker', _head.data -> 'worker'
        ),
        cancel.metadata, _head.hash
      );
      perform runledger.refresh_result(cancel.submission_id);
    else
      state := 'cancelled';
      perform graphile_worker.remove_job(cancel.submission_id::text);
      select ended.waiters into strict waiters from runledger.end_submissions(array[row(
        cancel.submission_id, _head.version + 1, 'submission.cancelled', 1, '{}', cancel.metadata, _head.hash
      )::runledger.new_event]) ended;
    end if;
    return next;
  end loop;
end
$$;
comment on function runledger.cancel is 'Cancels submissions of the account; one row for each that it has. cancelled: it waited and has ended; requested: it runs, and its worker is to be notified after the commit (runledger_cancel); ended: it had ended before. waiters: as runledger.conclude has them.';

-- Anybody may notify anything, so workers ask.
create or replace function runledger.find_cancelled(submissions uuid[]) returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select asked.id
  from unnest(find_cancelled.submissions) asked (id)
  cross join lateral (
    select e.type from runledger.event e where e.stream_id = asked.id order by e.stream_version desc limit 1
  ) head
  where head.type = 'submission.cancel_requested'
$$;
comment on function runledger.find_cancelled is 'Those of these submissions whose attempt is to be ended, as their caller has cancelled them.';
