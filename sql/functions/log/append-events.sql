-- The one way into the log.

create or replace function runledger.append_events(events runledger.new_event[]) returns timestamptz
language plpgsql
as $$
declare
  _recorded_at timestamptz := clock_timestamp();
begin
  insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
  select
    e.stream_id, e.stream_version, e.type, e.schema_version, e.data, e.metadata, _recorded_at,
    runledger.hash_event(
      e.previous_hash, e.stream_id, e.stream_version, e.type, e.schema_version, e.data, e.metadata, _recorded_at
    )
  from unnest(append_events.events) e;
  return _recorded_at;
end
$$;
comment on function runledger.append_events is 'Appends events, each at its version; returns when. 23505: somebody else was there first; nothing was written of any.';
