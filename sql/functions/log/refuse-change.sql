-- Makes the log append-only even for its owner, unless he disables triggers on purpose.

create or replace function runledger.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '% on runledger.%: the log is append only', tg_op, tg_table_name
    using errcode = 'RL001';
end
$$;
comment on function runledger.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE with SQLSTATE RL001.';

-- Partitions do not inherit statement triggers (later ones: runledger.protect_partition).
do $$
declare
  _table text;
begin
  foreach _table in array array['event'] || array(select p.name from runledger.partition p where p.table_name = 'event') loop
    -- Made anew it would lock the log against a running service, which may hold it and wait for what a migration locked.
    if not exists (
      select from pg_catalog.pg_trigger
      where tgrelid = format('runledger.%I', _table)::regclass and tgname = 'event_append_only'
    ) then
      execute format(
        'create trigger event_append_only before update or delete or truncate on runledger.%I for each statement execute function runledger.refuse_change()',
        _table
      );
    end if;
  end loop;
end
$$;
