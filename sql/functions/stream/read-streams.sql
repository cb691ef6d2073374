-- What watchers have not been told yet, for all of a web process at once.

create or replace function runledger.read_streams(asked jsonb)
returns table (
  place integer,
  status text,
  is_final boolean,
  run text,
  output_encoding text,
  kind text,
  start bigint,
  bytes bytea
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select
      item.place, r.status, r.finished_at is not null, attempt.run, r.output_encoding, piece.kind, piece.start, piece.bytes
    from jsonb_to_recordset(read_streams.asked) item (
      place integer, id uuid, run text, compile bigint, stdout bigint, stderr bigint, test bigint
    )
    left join runledger.result r on r.id = item.id
    left join lateral (
      -- The first events name no run.
      select coalesce(e.data ->> 'run', e.stream_version::text) as run
      from runledger.event e
      -- Only what waits for the first time is not looked up. A row may have been edited by hand: its version alone says nothing.
      where e.stream_id = item.id and (r.status <> 'queued' or r.version > 1 or r.finished_at is not null)
        and e.type = 'execution.started'
      order by e.stream_version desc limit 1
    ) attempt on true
    left join lateral (
      select o.kind, o.start, o.bytes
      from (
        values ('compile', item.compile), ('stdout', item.stdout), ('stderr', item.stderr), ('test', item.test)
      ) kinds (kind, position)
      -- Of another run everything is new.
      cross join lateral (select case when attempt.run = item.run then kinds.position else 0 end as begins) known
      cross join lateral (
        select l.kind, l.start, l.bytes
        from runledger.live_output l
        where l.submission_id = item.id and l.run = attempt.run and l.kind = kinds.kind
          -- No piece is longer than 64 KiB.
          and l.start > known.begins - 65536
          and case l.kind
            when 'compile' then known.begins = 0
            when 'test' then l.start >= known.begins
            -- The first, and as many as the rest of a character may stand in.
            else l.start + octet_length(l.bytes) > known.begins and l.start < known.begins + 4
          end
        order by l.start
        limit 200
      ) o
    ) piece on r.status = 'running'
    order by item.place, array_position(array['compile', 'stdout', 'stderr', 'test'], piece.kind), piece.start;
end
$$;
comment on function runledger.read_streams is 'For each place of `asked`: how that submission stands (status is null when there is none), its last attempt, and, while it runs, pieces of live output from the given ends on if they are of that run, else from the beginning: at most 64 KiB of each. Of `compile` the end is 1 once its messages were told. One row a piece, or one without. Whose submissions they are the caller has seen to.';
