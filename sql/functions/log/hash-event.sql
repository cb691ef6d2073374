-- A change would break every chain: a new hash needs a new function.

create or replace function runledger.hash_event(
  previous_hash bytea,
  stream_id uuid,
  stream_version integer,
  type text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  recorded_at timestamptz
) returns bytea
-- Not SQL: with functions that are not immutable it would be started for every row.
language plpgsql immutable parallel safe
as $$
begin
  return sha256(
    coalesce(previous_hash, ''::bytea)
    || convert_to(
      jsonb_build_array(
        stream_id, stream_version, type, schema_version, data, metadata, extract(epoch from recorded_at)
      )::text,
      'UTF8'
    )
  );
end
$$;
comment on function runledger.hash_event is 'SHA-256 over the previous event''s hash and one event''s content.';
