-- A low submission that has not started gives its place among its key's to one that is not low.

create or replace function runledger.displace_low(api_key_id uuid) returns boolean
language plpgsql
as $$
declare
  _key text;
begin
  -- Who removes the job decides: a worker that takes it just now has locked it.
  delete from graphile_worker._private_jobs waiting
  where waiting.id = (
    select j.id
    from runledger.pending p
    join graphile_worker._private_jobs j on j.key = p.submission_id::text
    where p.api_key_id = displace_low.api_key_id and p.admitted and p.is_low and j.locked_at is null
    order by p.submission_id desc limit 1
    for update of j skip locked
  )
  returning waiting.key into _key;
  if not found then
    return false;
  end if;
  update runledger.pending set admitted = false where pending.submission_id = _key::uuid;
  return true;
end
$$;
comment on function runledger.displace_low is 'Takes its place from the newest low submission of a key that was admitted and has not started: it waits as those do that were not (admit_waiting). False: there is none. Called with the key''s lock held.';
