-- What a submission may still be in although no worker runs it at the moment: one that went away may come back.

create or replace function runledger.list_recent_language(period interval)
returns table (name text, lacks jsonb)
language sql stable security definer set search_path = ''
as $$
  select distinct language.key, coalesce(language.value -> 'lacks', '[]')
  from runledger.worker
  cross join lateral jsonb_each(worker.languages) language
  where worker.stopped_at is null or worker.stopped_at > now() - list_recent_language.period
$$;
comment on function runledger.list_recent_language is 'The languages that a worker has run within the period, up to now, each with what such a worker cannot do of what submissions demand: a row for each difference.';
