-- Tells whoever waits that a submission has ended.

create or replace function runledger.tell_end(submission_id uuid, told_to text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  -- PostgreSQL's limit of a notification.
  _payload_bytes constant integer := 7999;
  _record text;
begin
  if tell_end.told_to is null then
    return;
  end if;
  select row_to_json(told)::text into _record
  from runledger.result r, runledger.read_result(r.id, r.account_id) told
  where r.id = tell_end.submission_id
    -- Bytes are written in hexadecimal.
    and 2 * (
      coalesce(octet_length(told.stdout), 0) + coalesce(octet_length(told.stderr), 0)
      + coalesce(octet_length(told.compile_output), 0) + coalesce(octet_length(told.report), 0)
    ) <= _payload_bytes;
  if _record is null or octet_length(_record) > _payload_bytes then
    _record := json_build_object('id', tell_end.submission_id)::text;
  end if;
  perform pg_notify(channel, _record) from unnest(tell_end.told_to) channel;
end
$$;
comment on function runledger.tell_end is 'Tells who waits for it that this submission has ended: the channels told_to, if any, are sent the row of runledger.read_result as JSON, or its id alone if that is too long.';
