-- By the catalogue alone: whoever looks at all accounts must not have PostgreSQL keep all their sequences in mind.

create or replace function job.has_clock(account_id uuid) returns boolean
language sql stable
as $$
  select count(*) = 4 from pg_catalog.pg_class part
  where part.relnamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = 'turn')
    and part.relname in (
      has_clock.account_id::text, has_clock.account_id || ' cost', has_clock.account_id || ' credit', has_clock.account_id || ' debt'
    )
$$;
comment on function job.has_clock is 'True when an account has all that job.create_clock makes.';
