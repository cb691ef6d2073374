-- Dropping what retention emptied gives its space back at once.

create or replace function runledger.drop_partitions(older_than interval) returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'
as $$
declare
  _name text;
  _empty boolean;
begin
  if not pg_try_advisory_xact_lock(71830, -3) then
    return;
  end if;
  for _name in
    select p.name from runledger.partition p
    where p.table_name = 'body' and p.ends_at < now() - drop_partitions.older_than
    order by p.lower
  loop
    begin
      execute format('select not exists (select from runledger.%I)', _name) into _empty;
      continue when not _empty;
      -- In the order of every statement: who has read the whole would wait for the part, and we for the whole.
      lock table only runledger.body in access exclusive mode;
      -- Everybody waits for us now.
      execute format('lock table runledger.%I in access exclusive mode nowait', _name);
      execute format('select not exists (select from runledger.%I)', _name) into _empty;
      if _empty then
        execute format('drop table runledger.%I', _name);
        return next _name;
      end if;
    exception
      when lock_not_available or deadlock_detected then
        null; -- somebody reads there: next time
    end;
  end loop;
end
$$;
comment on function runledger.drop_partitions is 'Drops the empty partitions of runledger.body that end longer ago than that; returns their names.';
