-- A caller takes a submission back: what waits ends here, what runs is marked for its worker to end. Versions decide every
-- race: with a start, a loss, a completion or another cancel.

create or replace function runledger.store_cancel(
  submission_id uuid,
  account_id uuid,
  metadata jsonb,
  out state text,
  out told_to text[]
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _head record;
begin
  if not exists (
    select from runledger.result r where r.id = store_cancel.submission_id and r.account_id = store_cancel.account_id
  ) then
    return;
  end if;

  -- Whoever is first elsewhere is so for good: the second look mostly suffices.
  for _ in 1..100 loop
    if exists (
      select from runledger.event
      where event.stream_id = store_cancel.submission_id and runledger.closes_submission(event.type)
    ) then
      state := 'ended';
      return;
    end if;
    select e.stream_version, e.type, e.hash, e.data into strict _head
    from runledger.event e
    where e.stream_id = store_cancel.submission_id
    order by e.stream_version desc limit 1;

    -- The block gives its locks back when its event comes too late. A completion waits for the key's lock while it holds
    -- the version.
    begin
      if _head.type = 'submission.cancel_requested' then
        state := 'requested';
      elsif _head.type = 'execution.started' then
        perform runledger.append_event(
          store_cancel.submission_id, _head.stream_version + 1, 'submission.cancel_requested', 1,
          jsonb_build_object(
            'attempt', _head.data -> 'attempt', 'run', _head.data -> 'run', 'worker', _head.data -> 'worker'
          ),
          store_cancel.metadata, _head.hash
        );
        perform runledger.refresh_result(store_cancel.submission_id);
        state := 'requested';
      else
        -- In the order of others: an end admits by the key's lock.
        perform from runledger.api_key k
        join runledger.result r on r.api_key_id = k.id
        where r.id = store_cancel.submission_id
        for no key update of k;
        perform graphile_worker.remove_job(store_cancel.submission_id::text);
        told_to := runledger.end_cancelled(
          store_cancel.submission_id, _head.stream_version + 1, '{}', store_cancel.metadata
        );
        state := 'cancelled';
      end if;
      return;
    exception
      when unique_violation then
        null; -- it went on meanwhile
    end;
  end loop;
  raise exception 'submission % does not stand still', store_cancel.submission_id using errcode = '40001';
end
$$;
comment on function runledger.store_cancel is 'Cancels a submission of the account. cancelled: it waited and has ended, and told_to are to be told by runledger.tell_end; requested: its worker must be told to end it; ended: it had ended before; null: the account has none such.';
