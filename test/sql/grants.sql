-- What each role must not do, tried.

select runledger.append_event('00000000-0000-7000-8000-000000000001', 1, 'submission.received', 1, '{}', '{}');

do $$
declare
  _role text;
  _statement text;
begin
  foreach _role in array array['runledger_api', 'runledger_worker', 'runledger_auditor'] loop
    execute format('set local role %I', _role);
    foreach _statement in array array[
      'insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash) values (gen_random_uuid(), 1, ''a.b'', 1, ''{}'', ''{}'', now(), '''')',
      'update runledger.event set data = ''{}''',
      'delete from runledger.event',
      'truncate runledger.event',
      'update runledger.result set verdict = ''AC''',
      'delete from runledger.result',
      'update runledger.body set stdout = ''''',
      'delete from runledger.pending',
      'select digest from runledger.api_key',
      'select secret from runledger.delivery',
      'insert into runledger.tier values (''free'', null, null)',
      'select runledger.append_event(gen_random_uuid(), 1, ''a.b'', 1, ''{}'', ''{}'')',
      'select runledger.rebuild_result()',
      'select graphile_worker.add_job(''execute'')',
      'select * from graphile_worker._private_jobs',
      'create table runledger.mine ()',
      'drop view audit.event',
      'alter table runledger.event disable trigger all'
    ] loop
      begin
        execute _statement;
        if not (_role = 'runledger_worker' and _statement like 'select secret%') then
          assert false, format('%s may: %s', _role, _statement);
        end if;
      exception
        when insufficient_privilege then null;
      end;
    end loop;
    reset role;
  end loop;
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
