-- Keeps what runs have written for those who watch them, and tells them that there is more.

create or replace function runledger.tell_output(told jsonb)
returns table (run text, watched boolean, compile bigint, stdout bigint, stderr bigint, test bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _item record;
  _piece record;
  _ends jsonb;
  _end bigint;
  _bytes bytea;
begin
  perform set_config('synchronous_commit', 'off', true);
  for _item in
    select * from jsonb_to_recordset(tell_output.told) item (submission uuid, run text, begins boolean, pieces jsonb)
    order by item.submission
  loop
    run := _item.run;
    watched := exists (
      select from runledger.watch w where w.submission_id = _item.submission and w.expires_at > now()
    );
    if not watched then
      return next;
      continue;
    end if;
    if _item.begins then
      delete from runledger.live_output o where o.submission_id = _item.submission and o.run <> _item.run;
    end if;

    select coalesce(jsonb_object_agg(last.kind, last.ends), '{}') into _ends
    from (values ('compile'), ('stdout'), ('stderr'), ('test')) kinds (kind)
    cross join lateral (
      select o.kind, o.start + case when o.kind = 'test' then 1 else octet_length(o.bytes) end as ends
      from runledger.live_output o
      where o.submission_id = _item.submission and o.run = _item.run and o.kind = kinds.kind
      order by o.start desc limit 1
    ) last;
    for _piece in select * from jsonb_to_recordset(_item.pieces) piece (kind text, start bigint, bytes text) loop
      _end := coalesce((_ends ->> _piece.kind)::bigint, 0);
      -- After a crash what came before is missing: the caller reads so, and tells it again.
      continue when _piece.start <> _end;
      _bytes := decode(_piece.bytes, 'base64');
      insert into runledger.live_output (submission_id, run, kind, start, bytes)
      values (_item.submission, _item.run, _piece.kind, _piece.start, _bytes)
      on conflict do nothing;
      _end := _end + case when _piece.kind = 'test' then 1 else octet_length(_bytes) end;
      _ends := _ends || jsonb_build_object(_piece.kind, _end);
    end loop;
    compile := coalesce((_ends ->> 'compile')::bigint, -1);
    stdout := coalesce((_ends ->> 'stdout')::bigint, 0);
    stderr := coalesce((_ends ->> 'stderr')::bigint, 0);
    test := coalesce((_ends ->> 'test')::bigint, 0);
    perform pg_notify(w.channel, jsonb_build_object('id', _item.submission)::text)
    from runledger.watch w where w.submission_id = _item.submission and w.expires_at > now();
    return next;
  end loop;
end
$$;
comment on function runledger.tell_output is 'told: for each run its submission, whether this is its first word, and pieces of what it wrote: kind, start, bytes as base64. A piece that does not begin where the ones before it end is left out. Returns for each run whether anybody watches, or else nothing is kept, and where what is kept ends: bytes, tests, and -1 while the compiler''s messages are not there.';
