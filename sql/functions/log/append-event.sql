-- One event by itself, which mostly looks up what it follows.

create or replace function runledger.append_event(
  stream_id uuid,
  stream_version integer,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  previous_hash bytea default null
) returns timestamptz
language plpgsql
as $$
declare
  _previous_hash bytea := append_event.previous_hash;
begin
  if append_event.stream_version > 1 and _previous_hash is null then
    select event.hash into _previous_hash
    from runledger.event
    where event.stream_id = append_event.stream_id
      and event.stream_version = append_event.stream_version - 1;
    if not found then
      raise exception 'stream % has no version % to follow', append_event.stream_id, append_event.stream_version - 1
        using errcode = 'RL002';
    end if;
  end if;

  return runledger.append_events(array[row(
    append_event.stream_id, append_event.stream_version, append_event.type, append_event.schema_version,
    append_event.data, append_event.metadata, _previous_hash
  )::runledger.new_event]);
end
$$;
comment on function runledger.append_event is 'Appends one event at the given version; returns when. previous_hash: the hash of the event before it, by a caller that has just read that event; without it, it is looked up. 23505: somebody else was there first. RL002: the version would leave a gap.';
