-- Tiers, and the quota of the outputs that are kept in a day.

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

create or replace function runledger.count_output(kept jsonb)
returns table (account_id uuid, bytes bigint, most bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _today constant date := (now() at time zone 'UTC')::date;
begin
  delete from runledger.kept_output k where k.day < _today - 1;
  -- Every worker locks in the same order.
  insert into runledger.kept_output as k (day, account_id, bytes)
  select _today, account.id, given.value::bigint
  from jsonb_each_text(count_output.kept) given
  join runledger.account on account.id = given.key::uuid
  where given.value::bigint > 0
  order by account.id
  on conflict on constraint kept_output_pkey do update set bytes = k.bytes + excluded.bytes;
  return query
  select account.id, coalesce(k.bytes, 0), quota.most
  from jsonb_object_keys(count_output.kept) given (id)
  join runledger.account on account.id = given.id::uuid
  left join runledger.kept_output k on k.day = _today and k.account_id = account.id
  cross join lateral (
    select
      case
        when bool_or(of_key.in_force and tier.output_bytes is null) then null
        -- Submissions that outlive the account's last valid key get the narrowest of its tiers.
        else coalesce(max(tier.output_bytes) filter (where of_key.in_force), min(tier.output_bytes))
      end as most
    from (
      select key.tier, key.revoked_at is null and (key.expires_at is null or key.expires_at > now()) as in_force
      from runledger.api_key key
      where key.account_id = account.id and key.role = 'submit'
    ) of_key
    join runledger.tier on tier.name = of_key.tier
  ) quota;
end
$$;
comment on function runledger.count_output is 'Adds bytes to the kept outputs of accounts today (UTC). kept: an object of numbers by the account''s id; 0 only asks. Returns for each account the bytes kept today, and the most that its tier allows. Of several valid keys, the widest tier counts; null is unlimited.';
