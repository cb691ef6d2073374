-- Repeats the sample some days later, in bulk: the same submissions under other ids, at other times, each chain of hashes made
-- anew by the service's own function, so that the log is as true as the sample's.

create table if not exists bench.copied (part integer primary key);

create or replace aggregate bench.chain(uuid, integer, text, integer, jsonb, jsonb, timestamptz) (
  sfunc = runledger.hash_event,
  stype = bytea
);

-- Ids begin with their time in milliseconds; the rest stays. Without other functions, so that it is inlined.
create or replace function bench.shift(id uuid, milliseconds bigint) returns uuid
language sql immutable
as $$
  select (
    lpad(to_hex(('x' || left(id::text, 8) || substr(id::text, 10, 4))::bit(48)::bigint + milliseconds), 12, '0')
    || substr(id::text, 15)
  )::uuid
$$;

create or replace function bench.copy(part integer) returns void
language plpgsql
as $$
declare
  _plan bench.plan := (select p from bench.plan p);
  _milliseconds bigint := copy.part * _plan.days * 86400000::bigint / _plan.parts;
  _later interval := make_interval(secs => _milliseconds / 1000.0);
  _end uuid := runledger.uuid_floor(
    _plan.until - make_interval(secs => (_plan.parts - 1.0) * _plan.days * 86400.0 / _plan.parts)
  );
begin
  insert into bench.copied values (copy.part);
  insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
  select
    moved.*,
    bench.chain(stream_id, stream_version, type, schema_version, data, metadata, recorded_at)
      over (partition by stream_id order by stream_version)
  from (
    select
      bench.shift(e.stream_id, _milliseconds) as stream_id, e.stream_version, e.type, e.schema_version,
      case
        when e.type = 'submission.received' and e.data #>> '{webhook,id}' is not null then
          jsonb_set(e.data, '{webhook,id}', to_jsonb(bench.shift((e.data #>> '{webhook,id}')::uuid, _milliseconds)))
        when e.type like 'webhook.%' then
          jsonb_set(e.data, '{submission}', to_jsonb(bench.shift((e.data ->> 'submission')::uuid, _milliseconds)))
        else e.data
      end as data,
      e.metadata, e.recorded_at + _later as recorded_at
    from runledger.event e
    where (e.type like 'submission.%' or e.type like 'execution.%' or e.type like 'webhook.%') and e.stream_id < _end
  ) moved
  order by stream_id, stream_version;

  insert into runledger.body
  select moved.* from runledger.body b
  cross join lateral jsonb_populate_record(b, jsonb_build_object('submission_id', bench.shift(b.submission_id, _milliseconds))) moved
  where b.submission_id < _end order by b.submission_id;

  insert into runledger.output
  select moved.* from runledger.output o
  cross join lateral jsonb_populate_record(o, jsonb_build_object('submission_id', bench.shift(o.submission_id, _milliseconds))) moved
  where o.submission_id < _end order by o.submission_id;

  insert into runledger.result
  select moved.* from runledger.submission r
  cross join lateral jsonb_populate_record(r, jsonb_build_object(
    'id', bench.shift(r.id, _milliseconds), 'created_at', r.created_at + _later, 'started_at', r.started_at + _later,
    'finished_at', r.finished_at + _later
  )) moved
  where r.id < _end order by r.id;

  insert into runledger.delivery
  select moved.* from runledger.delivery d
  cross join lateral jsonb_populate_record(d, jsonb_build_object(
    'submission_id', bench.shift(d.submission_id, _milliseconds), 'webhook_id', bench.shift(d.webhook_id, _milliseconds)
  )) moved
  where d.submission_id < _end order by d.submission_id;
end
$$;

-- What the retention has done to a part long ago, in bulk too.
create or replace function bench.forget(part integer) returns void
language plpgsql
as $$
declare
  _plan bench.plan := (select p from bench.plan p);
  _width interval := make_interval(secs => _plan.days * 86400.0 / _plan.parts);
  _from uuid := runledger.uuid_floor(_plan.until - _width * (_plan.parts - forget.part));
  _to uuid := runledger.uuid_floor(_plan.until - _width * (_plan.parts - forget.part - 1));
begin
  insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
  select
    r.id, r.version + 1, purged.type, 1, purged.data, purged.metadata, purged.at,
    runledger.hash_event(head.hash, r.id, r.version + 1, purged.type, 1, purged.data, purged.metadata, purged.at)
  from runledger.submission r
  join runledger.event head on head.stream_id = r.id and head.stream_version = r.version
  cross join lateral (
    select
      'submission.purged' as type, '{"reason": "retention"}'::jsonb as data,
      '{"actor": {"retention": "30 days"}}'::jsonb as metadata, r.finished_at + interval '30 days' as at
  ) purged
  where r.id >= _from and r.id < _to and head.stream_id >= _from and head.stream_id < _to and r.purged_at is null
  order by r.id;
  update runledger.result set version = version + 1, purged_at = finished_at + interval '30 days'
  where id >= _from and id < _to and purged_at is null;
  update runledger.delivery set url = null where submission_id >= _from and submission_id < _to;
  delete from runledger.body where submission_id >= _from and submission_id < _to;
  delete from runledger.output where submission_id >= _from and submission_id < _to;
end
$$;
