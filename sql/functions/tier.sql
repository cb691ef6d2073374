-- Each change of a tier is an event of its stream. The stream's UUID is made from the tier's name: version 7, with time 0 and
-- a part of the name's hash.

create or replace function runledger.define_tier(schema_version integer, data jsonb, metadata jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _name constant text := define_tier.data ->> 'name';
  _hash text := encode(sha256(convert_to(_name, 'UTF8')), 'hex');
  _stream_id uuid := '00000000-0000-7' || substr(_hash, 1, 3) || '-8' || substr(_hash, 4, 3) || '-' || substr(_hash, 7, 12);
begin
  insert into runledger.tier (name) values (_name) on conflict on constraint tier_pkey do nothing;
  -- Columns that data does not name keep their values.
  update runledger.tier t set (
    requests_per_minute, concurrent_executions, limits, blob_bytes, weight, total_seconds, output_bytes, cores, batch_items
  ) = (
    select
      said.requests_per_minute, said.concurrent_executions, t.limits || coalesce(define_tier.data -> 'limits', '{}'),
      said.blob_bytes, said.weight, said.total_seconds, said.output_bytes, said.cores, said.batch_items
    from jsonb_populate_record(t, define_tier.data) said
  )
  where t.name = _name;
  perform runledger.append_event(
    _stream_id, null, 'tier.defined', define_tier.schema_version, define_tier.data, define_tier.metadata
  );
end
$$;
comment on function runledger.define_tier is 'Creates a tier, or changes it for all its keys, and appends tier.defined. data: columns of runledger.tier; null is unlimited. Columns and single limits that data leaves out do not change.';
