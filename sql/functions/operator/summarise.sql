create or replace function runledger.summarise(figures double precision[]) returns jsonb
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case when count(figure) = 0 then null else jsonb_build_object(
    'p50', (percentile_disc(array[0.5, 0.95, 0.99]) within group (order by figure))[1],
    'p95', (percentile_disc(array[0.5, 0.95, 0.99]) within group (order by figure))[2],
    'p99', (percentile_disc(array[0.5, 0.95, 0.99]) within group (order by figure))[3]
  ) end
  from unnest(summarise.figures) figure
$$;
comment on function runledger.summarise is 'The median, the 95th and the 99th percentile of these, each one of them; null without any.';
