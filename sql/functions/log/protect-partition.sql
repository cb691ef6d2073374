-- What a partition does not inherit from its table.

create or replace function runledger.protect_partition(table_name text, name text) returns void
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without its own trigger it could be changed by its own name.
  if protect_partition.table_name = 'event' then
    execute format(
      'create or replace trigger event_append_only before update or delete or truncate on runledger.%I for each statement execute function runledger.refuse_change()',
      protect_partition.name
    );
  end if;
  execute format('revoke all on runledger.%I from public', protect_partition.name);
end
$$;
comment on function runledger.protect_partition is 'Gives a partition what it does not have from its parent: the trigger that keeps the log append only, and nobody''s rights.';
