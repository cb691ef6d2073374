-- Whose programs wait, and for how long, for metrics: since accounts share the slots, one class may wait while another does not.

create or replace function runledger.read_class_load()
returns table (tier text, language text, priority text, waiting bigint, oldest_seconds double precision)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    k.tier, p.language, case when p.is_low then 'low' else 'normal' end, count(*),
    extract(epoch from now() - min(p.created_at))::double precision
  from runledger.pending p
  join runledger.api_key k on k.id = p.api_key_id
  where not p.is_running
  group by 1, 2, 3
  -- Operators make tiers as they like; a scrape is bounded all the same.
  order by count(*) desc limit 200
$$;
comment on function runledger.read_class_load is 'One row a tier, language and priority of which submissions wait, of the 200 with most of them: how many do not run yet, and the age of the oldest.';
