-- Every id has a partition, that of its time if it exists. Constraints hold in all partitions.

do $$
declare
  _now uuid := runledger.uuid_floor(now());
  _month text := 'event_' || to_char(now() at time zone 'UTC', 'YYYY_MM');
  _id uuid;
begin
  assert (select starts_at <= now() and ends_at > now() from audit.partition where name = _month),
    'the partition of this month says so';
  perform runledger.append_event(_now, 1, 'submission.received', 1, '{}', '{}');
  assert (select tableoid::regclass::text from runledger.event where stream_id = _now) = 'runledger.' || _month,
    'an id of now goes to this month''s partition';

  foreach _id in array array[
    '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', runledger.uuid_floor('1970-01-02'),
    runledger.uuid_floor('9000-01-01')
  ]::uuid[] loop
    perform runledger.append_event(_id, 1, 'submission.received', 1, '{}', '{}');
    insert into runledger.body (submission_id, code) values (_id, '');
    assert (select tableoid = 'runledger.event_default'::regclass from runledger.event where stream_id = _id),
      'an id of any other time has a place too';
  end loop;
end
$$;

-- A stream has one terminal event and one event per version, in the default partition too, and also without the function.
do $$
declare
  _id uuid;
begin
  foreach _id in array array[runledger.uuid_floor(now()), '00000000-0000-7000-8000-000000000001']::uuid[] loop
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    values (_id, 7, 'execution.completed', 1, '{}', '{}', now(), '');
    begin
      insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
      values (_id, 8, 'execution.abandoned', 1, '{}', '{}', now(), '');
      assert false, 'a submission ended twice';
    exception when unique_violation then null;
    end;
    begin
      insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
      values (_id, 7, 'a.b', 1, '{}', '{}', now(), '');
      assert false, 'two events stand at one version';
    exception when unique_violation then null;
    end;
  end loop;
end
$$;

-- After a change of the width, new partitions follow the old ones without gap or overlap, and the old ones stay.
do $$
declare
  _before integer;
  _made text[];
begin
  -- The day may have changed since the database's template was made.
  perform runledger.make_partitions();
  _before := (select count(*) from audit.partition where table_name = 'event');
  assert (select count(*) from runledger.make_partitions()) = 0, 'nothing is left to make';
  update runledger.partitioning set width = '7 days', ahead = 20 where table_name = 'event';
  _made := array(select runledger.make_partitions());
  assert cardinality(_made) between 2 and 20, format('%s were made', cardinality(_made));
  assert (select count(*) from audit.partition where table_name = 'event') = _before + cardinality(_made),
    'those that were there still are';
  assert not exists (
    select from (
      select lower, lag(upper) over (order by lower) as previous from audit.partition where table_name = 'event'
    ) p where previous is not null and lower <> previous
  ), 'each begins where the one before ends';
  assert not exists (
    select from audit.partition p
    where p.table_name = 'event' and not exists (
      select from pg_catalog.pg_trigger t
      where t.tgrelid = format('runledger.%I', p.name)::regclass and t.tgname = 'event_append_only' and t.tgenabled = 'O'
    )
  ), 'each refuses changes';
end
$$;

-- Rows that came before their partition was made stay in the default partition, and nothing fails.
do $$
declare
  _id uuid := runledger.uuid_floor((select max(ends_at) from audit.partition where table_name = 'event') + interval '1 hour');
begin
  perform runledger.append_event(_id, 1, 'submission.received', 1, '{}', '{}');
  update runledger.partitioning set ahead = 30 where table_name = 'event';
  assert (select count(*) from runledger.make_partitions()) > 1, 'the following ones are made';
  perform runledger.append_event(_id, 2, 'execution.started', 1, '{}', '{}');
  assert (select count(distinct tableoid) from runledger.event where stream_id = _id) = 1, 'a stream lies in one place';
end
$$;
