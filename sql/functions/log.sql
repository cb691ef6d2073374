-- Appends to the log, and refuses every other change.

-- A change here would break every chain, so a new hash needs a new function.

create or replace function runledger.hash_event(
  previous_hash bytea, stream_id uuid, stream_version integer, type text, schema_version integer, data jsonb, metadata jsonb,
  recorded_at timestamptz
) returns bytea
-- Not SQL: PostgreSQL cannot inline calls of functions that are not immutable, and would start it anew for every row.
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

create or replace function runledger.append_event(
  stream_id uuid, stream_version integer, type text, schema_version integer, data jsonb, metadata jsonb,
  previous_hash bytea default null
) returns bytea
language plpgsql
as $$
declare
  _recorded_at constant timestamptz := clock_timestamp();
  _version integer := append_event.stream_version;
  _last integer;
  _hash bytea := append_event.previous_hash;
begin
  if _hash is null then
    select event.stream_version, event.hash into _last, _hash
    from runledger.event
    where event.stream_id = append_event.stream_id
    order by event.stream_version desc limit 1;
    if _version > coalesce(_last, 0) + 1 then
      raise exception 'stream % has no version % to follow', append_event.stream_id, _version - 1 using errcode = 'RL002';
    end if;
    _version := coalesce(_version, _last + 1, 1);
  end if;
  _hash := runledger.hash_event(
    _hash, append_event.stream_id, _version, append_event.type, append_event.schema_version, append_event.data,
    append_event.metadata, _recorded_at
  );
  insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
  values (
    append_event.stream_id, _version, append_event.type, append_event.schema_version, append_event.data,
    append_event.metadata, _recorded_at, _hash
  );
  return _hash;
end
$$;
comment on function runledger.append_event is 'Appends one event at the given version, or (null) after the last one; returns its hash. previous_hash: the previous event''s hash, if the caller knows it; otherwise it is looked up. 23505: another session has appended at this version. RL002: the version would leave a gap.';

-- Makes the log append-only even for its owner, unless the owner disables the trigger.

create or replace function runledger.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '% on runledger.%: the log is append only', tg_op, tg_table_name
    using errcode = 'RL001';
end
$$;
comment on function runledger.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE with SQLSTATE RL001.';
