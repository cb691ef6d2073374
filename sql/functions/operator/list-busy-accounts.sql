-- Whose submissions are under way, beside what they may use.

create or replace function runledger.list_busy_accounts(by_key jsonb) returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with by_key as (
    select counted.*
    from jsonb_to_recordset(list_busy_accounts.by_key)
      as counted (api_key_id uuid, account_id uuid, running bigint, admitted bigint, unfinished bigint)
  ), busiest as (
    select by_key.account_id, sum(by_key.running) as running, sum(by_key.unfinished) as unfinished
    from by_key
    group by by_key.account_id
    order by unfinished desc, by_key.account_id limit 20
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', account.id, 'name', account.name, 'running', b.running, 'waiting', b.unfinished - b.running,
    'blob_bytes', account.blob_bytes,
    'keys', (
      select jsonb_agg(jsonb_build_object(
        'id', k.id, 'label', k.label, 'tier', k.tier, 'unfinished', mine.unfinished,
        'admitted', mine.admitted, 'concurrent_executions', tier.concurrent_executions,
        'requests', (
          select count(*) from runledger.rate_window w, unnest(w.admitted_at) admitted (at)
          where w.api_key_id = k.id and admitted.at > now() - interval '60 seconds'
        ),
        'requests_per_minute', tier.requests_per_minute,
        'blob_bytes', tier.blob_bytes
      ) order by mine.unfinished desc, k.id)
      from (
        select * from by_key where by_key.account_id = b.account_id order by by_key.unfinished desc, by_key.api_key_id limit 10
      ) mine
      join runledger.api_key k on k.id = mine.api_key_id
      join runledger.tier on tier.name = k.tier
    )
  ) order by b.unfinished desc, account.id), '[]')
  from busiest b
  join runledger.account on account.id = b.account_id
$$;
comment on function runledger.list_busy_accounts is 'Of these counts of unfinished submissions (api_key_id, account_id, running, admitted, unfinished) the twenty accounts with most, each with its ten busiest keys: places taken, requests of the last 60 seconds, and what their tiers allow; null is without a limit.';
