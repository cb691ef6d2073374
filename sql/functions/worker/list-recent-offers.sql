create or replace function runledger.list_recent_offers(period interval) returns jsonb[]
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select array_agg(offered.names)
  from (
    select jsonb_agg(language.name) as names
    from runledger.list_recent_language(list_recent_offers.period) language
    group by language.offer
  ) offered
$$;
comment on function runledger.list_recent_offers is 'The languages that one worker offers, or has within the period: a list for each that differs; null before the first worker.';
