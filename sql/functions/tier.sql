-- Each change is an event of the tier's stream, whose uuid is made from the tier's name: version 7, as all are, with
-- time 0 and part of a hash.

create or replace function runledger.define_tier(
  name text, requests_per_minute integer, concurrent_executions integer, schema_version integer, data jsonb, metadata jsonb,
  limits jsonb default null
) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _hash text := encode(sha256(convert_to(define_tier.name, 'UTF8')), 'hex');
  _stream_id uuid := '00000000-0000-7' || substr(_hash, 1, 3) || '-8' || substr(_hash, 4, 3) || '-' || substr(_hash, 7, 12);
begin
  insert into runledger.tier as t (name, requests_per_minute, concurrent_executions)
  values (define_tier.name, define_tier.requests_per_minute, define_tier.concurrent_executions)
  on conflict on constraint tier_pkey do update
    set requests_per_minute = excluded.requests_per_minute, concurrent_executions = excluded.concurrent_executions;
  update runledger.tier t set limits = t.limits || define_tier.limits
  where t.name = define_tier.name and define_tier.limits is not null;
  update runledger.tier t set blob_bytes = (define_tier.data ->> 'blob_bytes')::bigint
  where t.name = define_tier.name and define_tier.data ? 'blob_bytes';
  update runledger.tier t set weight = (define_tier.data ->> 'weight')::integer
  where t.name = define_tier.name and define_tier.data ? 'weight';
  update runledger.tier t set total_seconds = (define_tier.data ->> 'total_seconds')::integer
  where t.name = define_tier.name and define_tier.data ? 'total_seconds';
  update runledger.tier t set output_bytes = (define_tier.data ->> 'output_bytes')::bigint
  where t.name = define_tier.name and define_tier.data ? 'output_bytes';
  update runledger.tier t set cores = (define_tier.data ->> 'cores')::integer
  where t.name = define_tier.name and define_tier.data ? 'cores';
  perform runledger.append_event(
    _stream_id, null, 'tier.defined', define_tier.schema_version, define_tier.data, define_tier.metadata
  );
end
$$;
comment on function runledger.define_tier is 'Makes a tier, or changes it for all its keys, and appends tier.defined; null is without a limit. limits: some of the most that a submission may ask for; the others stay. data.blob_bytes: what an account may have in blobs; data.weight: of an account''s share of the slots; data.total_seconds: what a submission may run in all; data.output_bytes: what is kept of an account''s outputs in a day; data.cores: that a box may use at once; left out they stay, too.';
