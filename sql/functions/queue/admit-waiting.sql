-- Each end admits the key's next submission, so that exactly its tier's number run.

create or replace function runledger.admit_waiting(api_key_id uuid) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _limit integer;
  _admitted integer := 0;
  _waiting record;
begin
  select tier.concurrent_executions into _limit
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = admit_waiting.api_key_id;
  if not found then
    return 0; -- the row was edited by hand: audit.drift has it
  end if;

  -- Those of one key take turns, so that the count is exact.
  perform from runledger.api_key k where k.id = admit_waiting.api_key_id for no key update;
  for _waiting in
    select p.submission_id, p.is_low, r.language
    from runledger.pending p
    left join runledger.result r on r.id = p.submission_id
    where p.api_key_id = admit_waiting.api_key_id and not p.admitted
    order by p.is_low, p.submission_id
    -- Null is without a limit; greatest() alone would take it for 0.
    limit case when _limit is not null then greatest(0, _limit - (
      select count(*) from runledger.pending p
      where p.api_key_id = admit_waiting.api_key_id and p.admitted
    )) end
  loop
    update runledger.pending set admitted = true where pending.submission_id = _waiting.submission_id;
    perform job.enqueue_first(array[row(
      _waiting.submission_id, _waiting.language, _waiting.is_low, job.find_turn(_waiting.submission_id), null, null, null
    )::job.place]);
    _admitted := _admitted + 1;
  end loop;
  if _admitted > 0 then
    perform job.wake_workers(_admitted);
  end if;
  return _admitted;
end
$$;
comment on function runledger.admit_waiting is 'Enqueues as many of a key''s waiting submissions, low ones last and the oldest first, as its tier has room for; returns how many.';
