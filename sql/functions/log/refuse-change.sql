-- Makes the log append-only even for its owner, unless he disables triggers on purpose.

create or replace function runledger.refuse_change() returns trigger
language plpgsql set search_path = ''
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
    execute format(
      'create or replace trigger event_append_only before update or delete or truncate on runledger.%I for each statement execute function runledger.refuse_change()',
      _table
    );
  end loop;
end
$$;
