-- conclude_execution for several ends, which share a commit. They share the word to who waits, too.

create or replace procedure runledger.conclude_several(ends jsonb, inout refusals jsonb)
language plpgsql
as $$
declare
  _stored jsonb;
begin
  select jsonb_agg(stored order by n), jsonb_agg(stored.refusal order by n)
  into _stored, refusals
  from runledger.store_several(ends) with ordinality stored (submission_id, told_to, refusal, n);
  commit;
  perform runledger.tell_end(told.submission_id, told.told_to)
  from jsonb_to_recordset(_stored) told (submission_id uuid, told_to text[], refusal text)
  where told.refusal is null and told.told_to is not null;
end
$$;
comment on procedure runledger.conclude_several is 'store_several in a transaction, and when that is on disk the word to who waits, in another. refusals: as that tells them, in their order, null where there is none.';
