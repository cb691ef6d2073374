-- The log refuses every change, from everybody, its owner included.

select runledger.append_event('00000000-0000-7000-8000-000000000001', 1, 'submission.received', 1, '{}', '{}');

do $$
declare
  _statement text;
begin
  foreach _statement in array array[
    'update runledger.event set data = ''{}''',
    'update runledger.event set recorded_at = now() where false',
    'delete from runledger.event',
    'truncate runledger.event'
  ] loop
    begin
      execute _statement;
      assert false, format('%s was not refused', _statement);
    exception
      when sqlstate 'RL001' then null;
    end;
  end loop;
  assert (select count(*) from runledger.event) = 1, 'the event is still there';
end
$$;

-- A partition, with rows or without, refuses changes under its own name too.
do $$
declare
  _name text;
  _statement text;
begin
  perform runledger.append_event(runledger.uuid_floor(now()), 1, 'submission.received', 1, '{}', '{}');
  assert (select count(*) from audit.partition where table_name = 'event' and ends_at > now()) >= 4,
    'this month has a partition, and so have the next three';
  for _name in select name from audit.partition where table_name = 'event' loop
    foreach _statement in array array[
      'update runledger.%I set data = ''{}''', 'delete from runledger.%I', 'truncate runledger.%I'
    ] loop
      begin
        execute format(_statement, _name);
        assert false, format(_statement, _name) || ' was not refused';
      exception
        when sqlstate 'RL001' then null;
      end;
    end loop;
  end loop;
end
$$;

do $$
begin
  perform runledger.append_event('00000000-0000-7000-8000-000000000001', 1, 'submission.received', 1, '{}', '{}');
  assert false, 'a second event at one version was accepted';
exception
  when unique_violation then null;
end
$$;

do $$
begin
  perform runledger.append_event('00000000-0000-7000-8000-000000000001', 3, 'execution.started', 1, '{}', '{}');
  assert false, 'a version that leaves a gap was accepted';
exception
  when sqlstate 'RL002' then null;
end
$$;

do $$
begin
  perform runledger.append_event('00000000-0000-7000-8000-000000000001', 2, 'execution.completed', 1, '{}', '{}');
  perform runledger.append_event('00000000-0000-7000-8000-000000000001', 3, 'execution.abandoned', 1, '{}', '{}');
  assert false, 'a submission ended twice';
exception
  when unique_violation then null;
end
$$;
