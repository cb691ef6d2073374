-- Tries statements that every role must be refused.

select runledger.append_event('00000000-0000-7000-8000-000000000001', 1, 'submission.received', 1, '{}', '{}');

do $$
declare
  _role text;
  _statement text;
begin
  foreach _role in array array['runledger_owner', 'runledger_queue', 'runledger_api', 'runledger_worker', 'runledger_auditor'] loop
    execute format('set local role %I', _role);
    foreach _statement in array array[
      'insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash) values (gen_random_uuid(), 1, ''a.b'', 1, ''{}'', ''{}'', now(), '''')',
      'update runledger.event set data = ''{}''',
      'delete from runledger.event',
      'truncate runledger.event',
      'update runledger.result set verdict = ''AC''',
      'delete from runledger.result',
      'update runledger.body set code = ''''',
      'update runledger.output set stdout = ''''',
      'delete from runledger.pending',
      'select digest from runledger.api_key',
      'select secret from runledger.delivery',
      'insert into runledger.tier values (''free'', null, null)',
      'select runledger.append_event(gen_random_uuid(), 1, ''a.b'', 1, ''{}'', ''{}'')',
      'delete from runledger.event_default',
      'select * from runledger.body_default',
      'select * from runledger.output_default',
      'select * from runledger.rebuild_batch(gen_random_uuid(), 1)',
      'select * from runledger.partitioning',
      'update runledger.partitioning set ahead = 1',
      'delete from graphile_worker.migrations',
      'create table runledger.mine ()',
      'drop view audit.event',
      'alter table runledger.event disable trigger all'
    ] loop
      begin
        execute _statement;
        assert false, format('%s may: %s', _role, _statement);
      exception
        when insufficient_privilege then null;
      end;
    end loop;
    reset role;
  end loop;
end
$$;

-- Tries statements that only one role may run.
do $$
declare
  _row record;
  _role text;
begin
  for _row in
    select * from (values
      ('runledger_queue', $s$select graphile_worker.add_job('nothing')$s$),
      ('runledger_queue', $s$select * from graphile_worker._private_jobs$s$),
      ('runledger_worker', $s$select * from runledger.make_partitions()$s$),
      ('runledger_worker', $s$select runledger.purge_bodies(interval '1000 years', 1)$s$),
      ('runledger_worker', $s$select runledger.drop_partition(interval '1000 years')$s$),
      ('runledger_worker', $s$select runledger.renew_worker(gen_random_uuid(), '{}', null)$s$),
      ('runledger_worker', $s$select * from runledger.read_delivery(gen_random_uuid())$s$),
      ('runledger_api', $s$select * from runledger.event$s$),
      ('runledger_api', $s$select * from runledger.admit_request('')$s$),
      ('runledger_auditor', $s$select * from audit.event$s$)
    ) one (role, statement)
  loop
    foreach _role in array array['runledger_owner', 'runledger_queue', 'runledger_api', 'runledger_worker', 'runledger_auditor'] loop
      execute format('set local role %I', _role);
      begin
        execute _row.statement;
        assert _role = _row.role, format('%s may: %s', _role, _row.statement);
      exception
        when insufficient_privilege then
          assert _role <> _row.role, format('%s may not: %s: %s', _role, _row.statement, sqlerrm);
      end;
      reset role;
    end loop;
  end loop;
end
$$;

-- With row-level security and no policy, even a role with every right would see no row.
do $$
begin
  perform graphile_worker.add_job('nothing');
  set local role runledger_queue;
  assert (select count(*) from graphile_worker._private_jobs) > 0, 'the queue''s role sees jobs';
  reset role;
end
$$;

-- The auditor reads every audit view and nothing else.
do $$
declare
  _view text;
begin
  set local role runledger_auditor;
  for _view in select viewname from pg_catalog.pg_views where schemaname = 'audit' loop
    execute format('select * from audit.%I limit 1', _view);
  end loop;
  begin
    perform from runledger.event;
    assert false, 'the auditor reads tables';
  exception
    when insufficient_privilege then null;
  end;
  begin
    perform from runledger.body;
    assert false, 'the auditor reads bodies';
  exception
    when insufficient_privilege then null;
  end;
  reset role;
end
$$;
