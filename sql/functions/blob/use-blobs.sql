-- Notes that a submission names blobs. The touch is also what keeps a purge away until the submission is committed: what was
-- used within half a day is a day and a half from being purged, and what was not is changed here, so that a purge that looked
-- before waits, looks again and leaves it.

create or replace function runledger.use_blobs(account_id uuid, blobs jsonb) returns void
language plpgsql
as $$
declare
  _digests bytea[] := array(
    select distinct decode(named ->> 'sha256', 'hex') as sha256 from jsonb_array_elements(use_blobs.blobs) named
  );
begin
  if cardinality(_digests) = 0 then
    return;
  end if;
  -- In the order of their names, so that two submissions never wait for each other.
  perform from runledger.blob b
  where b.account_id = use_blobs.account_id and b.sha256 = any (_digests) and b.used_at < now() - interval '12 hours'
  order by b.sha256
  for no key update;
  update runledger.blob b set used_at = now()
  where b.account_id = use_blobs.account_id and b.sha256 = any (_digests) and b.used_at < now() - interval '12 hours';
  if (
    select count(*) from runledger.blob b where b.account_id = use_blobs.account_id and b.sha256 = any (_digests)
  ) < cardinality(_digests) then
    -- The caller has seen it a moment ago. Asked again, it is told which one is missing.
    raise exception 'a blob was purged meanwhile' using errcode = '40001';
  end if;
end
$$;
comment on function runledger.use_blobs is 'Blobs (a list of objects with sha256) of an account are named by a submission that this transaction receives. 40001: one of them is not there any more.';
