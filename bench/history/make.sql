-- Makes a sample of submissions inside the server by the functions that make them in the service: received, taken from the
-- queue, completed, one in fifty with a webhook delivered. Each step is a transaction of its own, as there. Everything else follows
-- from the id: the time, the account (the first has 30 %), language, verdict and tag. The sample fills the first part of the
-- time; copy.sql fills the rest.

create schema if not exists bench;

create table if not exists bench.plan (
  -- Of the sample, which is one of the parts.
  submissions bigint not null,
  parts integer not null,
  days integer not null,
  until timestamptz not null,
  seconds double precision not null default 0
);
create sequence if not exists bench.made;
create table if not exists bench.caller (
  number integer primary key,
  account_id uuid not null,
  api_key_id uuid not null
);

-- The one thing that is not as in the service: an event has the time that bench.turn_clock has set. The next migration puts
-- the functions back.
do $$
declare
  _function text;
begin
  foreach _function in array array['append_event', 'store_received', 'start', 'end_submissions'] loop
    execute replace(
      pg_get_functiondef(('runledger.' || _function)::regproc),
      ':= clock_timestamp()', ':= coalesce(current_setting(''bench.now'', true)::timestamptz, clock_timestamp())'
    );
  end loop;
end
$$;

-- To the time of the id, and some milliseconds more for each event after the first.
create or replace procedure bench.turn_clock(id uuid, event integer)
language sql
as $$
  select set_config(
    'bench.now', (runledger.uuid_time(id) + (event - 1) ^ 2 * (0.5 + random()) * interval '20 milliseconds')::text, false
  )
$$;

create or replace function bench.make_id(at timestamptz) returns uuid
language sql
as $$
  select (left(runledger.uuid_floor(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid
$$;

create or replace function bench.digest(body text) returns jsonb
language sql immutable
as $$
  select jsonb_build_object('sha256', encode(sha256(convert_to(body, 'UTF8')), 'hex'), 'bytes', octet_length(body))
$$;

create or replace procedure bench.receive(id uuid)
language plpgsql
as $$
declare
  _dice bigint := ('x' || right(id::text, 8))::bit(32)::bigint & 2147483647;
  _caller bench.caller;
  _code text := '# ' || id || repeat(E'\nprint(sum(int(word) for word in input().split()))', 8);
  _stdin text := (_dice % 1000)::text || ' ' || (_dice % 77)::text || E'\n';
  _webhook uuid := case when _dice % 50 = 7 then bench.make_id(runledger.uuid_time(id) + interval '1 second') end;
begin
  select * into _caller from bench.caller
  where number = case when _dice % 10 < 3 then 0 else 1 + (_dice / 10) % (select count(*) - 1 from bench.caller) end;
  call bench.turn_clock(id, 1);
  perform runledger.receive(
    jsonb_build_array(jsonb_build_object('submission_id', id, 'submissions', 1, 'api_key_id', _caller.api_key_id)),
    jsonb_build_array(jsonb_build_object(
      'request', 1, 'submission_id', id, 'schema_version', 1,
      'webhook_id', _webhook, 'webhook_url', 'https://example.org/hook', 'webhook_secret', 'whsec_' || md5(id::text),
      'data', jsonb_build_object(
        'account', _caller.account_id, 'api_key', _caller.api_key_id,
        'language', (array['python', 'python', 'python', 'cpp', 'java'])[1 + _dice / 1000 % 5],
        'code', bench.digest(_code), 'stdin', bench.digest(_stdin), 'expected_stdout', null,
        'webhook', case when _webhook is not null then jsonb_build_object('id', _webhook, 'host', 'example.org') end
      ) || case when _dice % 20 = 3 then jsonb_build_object('tag', 'week ' || extract(week from runledger.uuid_time(id))) else '{}' end,
      'metadata', jsonb_build_object('request', gen_random_uuid(), 'actor', jsonb_build_object('api_key', _caller.api_key_id)),
      'code', encode(convert_to(_code, 'UTF8'), 'base64'), 'stdin', encode(convert_to(_stdin, 'UTF8'), 'base64')
    ))
  );
end
$$;

create or replace procedure bench.complete(id uuid, started_version integer, run text, metadata jsonb)
language plpgsql
as $$
declare
  _dice bigint := ('x' || right(id::text, 8))::bit(32)::bigint & 2147483647;
  -- Of a million: most pass, one in 10,000 is rare.
  _verdict text := case
    when _dice % 1000000 < 100 then 'MLE' when _dice % 100 < 80 then 'AC' when _dice % 100 < 92 then 'WA'
    when _dice % 100 < 97 then 'RE' else 'TLE'
  end;
  _stdout text := (_dice % 100000)::text || E'\n';
begin
  call bench.turn_clock(id, 3);
  perform runledger.conclude(jsonb_build_array(jsonb_build_object(
    'submission_id', id, 'started_version', started_version, 'run', run, 'schema_version', 1, 'metadata', metadata,
    'stdout', encode(convert_to(_stdout, 'UTF8'), 'base64'), 'stderr', '', 'data', jsonb_build_object(
      'verdict', _verdict, 'exit_code', case when _verdict = 'RE' then 1 else 0 end, 'signal', null, 'compile', null,
      'run', jsonb_build_object(
        'ending', 'exited', 'exit_code', 0, 'signal', null, 'cpu_time', 0.01 + (_dice % 100) / 1000.0,
        'wall_time', 0.02 + (_dice % 100) / 1000.0, 'memory_peak', 9000000 + _dice % 4000000
      ),
      'stdout', bench.digest(_stdout) || '{"truncated": false}', 'stderr', bench.digest('') || '{"truncated": false}',
      'compile_output', null
    )
  )));
end
$$;

create or replace procedure bench.deliver(id uuid, metadata jsonb)
language plpgsql
as $$
declare
  _webhook uuid := (select webhook_id from runledger.delivery where submission_id = id);
begin
  if _webhook is not null then
    call bench.turn_clock(id, 4);
    perform runledger.record_attempt(
      _webhook, 0, 'webhook.delivered', 1,
      jsonb_build_object('submission', id, 'attempt', 1, 'outcome', 'delivered', 'status', 200, 'duration_seconds', 0.03, 'snippet', ''),
      metadata, null, null
    );
    -- As the queue does with a job that is done.
    perform graphile_worker.remove_job(_webhook::text);
  end if;
end
$$;

-- So many of what the plan has left, and what waits; returns how many there were to make. A statement that took longer than 1.5 s would receive
-- nothing any more.
create or replace procedure bench.make(worker uuid, most integer, inout made integer default 0)
language plpgsql
as $$
declare
  _plan bench.plan := (select p from bench.plan p);
  _metadata jsonb := jsonb_build_object('actor', jsonb_build_object('worker', worker));
  _limits constant jsonb := '{"run": {"cpu_time": 5, "wall_time": 10, "memory": 268435456, "processes": 64, "stdout": 1048576, "stderr": 262144, "disk": 67108864}}';
  _data jsonb := jsonb_build_object(
    'worker', worker, 'host', 'bench', 'isolation', '{"box": "keeper", "cgroup": "v2", "uid": "slot"}'::jsonb
  );
  _programs jsonb := jsonb_build_object(
    'python', jsonb_build_object('runtime', 'Python 3.11.2', 'limits', _limits),
    'cpp', jsonb_build_object('runtime', 'g++ 12.2.0', 'limits', _limits),
    'java', jsonb_build_object('runtime', 'OpenJDK 17.0.13', 'limits', _limits)
  );
  _number bigint;
  _run text;
  _job record;
  _taken record;
begin
  while made < most and clock_timestamp() < statement_timestamp() + interval '0.7 seconds' loop
    _number := nextval('bench.made');
    if _number <= _plan.submissions then
      call bench.receive(bench.make_id(
        _plan.until - make_interval(days => _plan.days) * (1 - _number::double precision / _plan.submissions / _plan.parts)
      ));
      commit;
      made := made + 1;
    end if;
    select j.key::uuid as id, split_part(j.task_identifier, ':', 2) as language into _job
    from graphile_worker.jobs j
    where j.task_identifier like 'execute:%' and j.locked_at is null and j.run_at <= now()
    order by j.priority, j.run_at, j.id limit 1;
    exit when not found and _number > _plan.submissions;
    continue when not found;
    -- The other connection had it at that moment.
    continue when (graphile_worker.remove_job(_job.id::text)).id is null;
    _run := gen_random_uuid()::text;
    call bench.turn_clock(_job.id, 2);
    select * into _taken from runledger.start(
      worker, array[_job.id], array[_run], array[_job.language], _data, _programs, jsonb_build_array(_job.language), '[]', _metadata
    );
    commit;
    continue when _taken.submission_id is null;
    call bench.complete(_taken.submission_id, _taken.version, _run, _metadata);
    call bench.deliver(_taken.submission_id, _metadata);
    commit;
  end loop;
end
$$;
