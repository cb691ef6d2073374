-- Counts the output bytes that workers have kept, and reports which accounts have used up their quota of the day.

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
