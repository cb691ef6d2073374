-- Partitions by the time in ids: created ahead, protected, dropped.

create or replace function runledger.uuid_floor(at timestamptz) returns uuid
language sql immutable parallel safe
as $$
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
comment on function runledger.uuid_floor is 'Returns the smallest id of a time; ids from before that time are smaller.';

create or replace function runledger.uuid_time(id uuid) returns timestamptz
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select to_timestamp(('x' || left(replace(uuid_time.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
$$;
comment on function runledger.uuid_time is 'Returns the time that an id starts with.';

-- Every release and, each hour, a worker calls this, so that partitions exist before they are needed.

create or replace function runledger.make_partitions() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '100ms'
as $$
declare
  _plan record;
  _unit text;
  _starts_at timestamptz;
  _ends_at timestamptz;
  _name text;
  _key text;
  _taken boolean;
begin
  if not pg_try_advisory_xact_lock(71830, -2) then
    return;
  end if;
  for _plan in select p.table_name, p.width, p.ahead from runledger.partitioning p order by p.table_name loop
    _unit := case
      when _plan.width >= interval '1 month' then 'month'
      when _plan.width >= interval '1 day' then 'day'
      when _plan.width >= interval '1 hour' then 'hour'
      else 'minute'
    end;
    _key := case _plan.table_name when 'event' then 'stream_id' else 'submission_id' end;
    -- Continues where the last partition ends, or now if that is later.
    select greatest(max(p.ends_at), date_trunc(_unit, now())) into _starts_at
    from audit.partition p where p.table_name = _plan.table_name;

    while _starts_at <= now() + _plan.width * _plan.ahead loop
      _ends_at := _starts_at + _plan.width;
      _name := _plan.table_name || '_' || to_char(_starts_at, case _unit
        when 'month' then 'YYYY_MM' when 'day' then 'YYYY_MM_DD' else 'YYYY_MM_DD_HH24_MI'
      end);
      -- Rows do not move out of the default partition, so a time that has rows there gets no partition.
      execute format(
        'select exists (select from runledger.%I where %I >= $1 and %I < $2)', _plan.table_name || '_default', _key, _key
      ) into _taken using runledger.uuid_floor(_starts_at), runledger.uuid_floor(_ends_at);
      if not _taken and to_regclass(format('runledger.%I', _name)) is null then
        execute format('create table runledger.%I (like runledger.%I including all)', _name, _plan.table_name);
        -- Attaching does not block writers of the table, but it locks the default partition. Behind a long reader all
        -- sessions would queue up, so lock_timeout ends the attempt soon and a later call tries again.
        execute format(
          'alter table runledger.%I attach partition runledger.%I for values from (%L) to (%L)',
          _plan.table_name, _name, runledger.uuid_floor(_starts_at), runledger.uuid_floor(_ends_at)
        );
        execute format('revoke all on runledger.%I from public', _name);
        execute format('comment on table runledger.%I is %L', _name, format(
          'Rows of runledger.%s whose ids were made from %s to %s UTC.', _plan.table_name,
          to_char(_starts_at, 'YYYY-MM-DD HH24:MI'), to_char(_ends_at, 'YYYY-MM-DD HH24:MI')
        ));
        return next _name;
      end if;
      _starts_at := _ends_at;
    end loop;
  end loop;

  -- Partitions do not inherit statement triggers. Without one, a partition of the log could be changed under its own name.
  for _name in
    select p.relid::text from pg_catalog.pg_partition_tree('runledger.event') p
    where not exists (select from pg_catalog.pg_trigger t where t.tgrelid = p.relid and t.tgname = 'event_append_only')
  loop
    execute format(
      'create trigger event_append_only before update or delete or truncate on %s for each statement execute function runledger.refuse_change()',
      _name
    );
  end loop;
end
$$;
comment on function runledger.make_partitions is 'Creates the partitions that runledger.partitioning asks for, and the trigger of the log where it is missing; returns the partitions'' names. 55P03: a reader held a lock for a tenth of a second; try again later.';

-- Dropping a partition that retention has emptied frees its space at once.

create or replace function runledger.drop_partition(older_than interval) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'
as $$
declare
  _table text;
  _name text;
  _empty boolean;
begin
  if not pg_try_advisory_xact_lock(71830, -3) then
    return null;
  end if;
  for _table, _name in
    select p.table_name, p.name from audit.partition p
    where p.table_name in ('body', 'output') and p.ends_at < now() - drop_partition.older_than
    order by p.lower
  loop
    begin
      execute format('select not exists (select from runledger.%I)', _name) into _empty;
      continue when not _empty;
      -- Reading an emptied partition may take seconds. This lock only keeps rows from being added meanwhile.
      execute format('lock table runledger.%I in exclusive mode', _name);
      execute format('select not exists (select from runledger.%I)', _name) into _empty;
      continue when not _empty;
      -- All other sessions wait for the table from here to the commit, so nothing may wait or take long.
      execute format('lock table only runledger.%I in access exclusive mode', _table);
      execute format('lock table runledger.%I in access exclusive mode nowait', _name);
      execute format('drop table runledger.%I', _name);
      return _name;
    exception
      when lock_not_available or deadlock_detected then
        null; -- a session uses the partition: the next call tries again
    end;
  end loop;
  return null;
end
$$;
comment on function runledger.drop_partition is 'Drops an empty partition of runledger.body or runledger.output that ended longer ago than that; returns its name. Null: there is none, or a session uses it.';
