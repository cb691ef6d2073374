-- The last hours as a series of points. It reads submissions by the time in their ids, and a bounded number of them: in a busy
-- service it samples an equal share of each step's time, and weights each submission by the inverse of that share.

create or replace function runledger.read_series(step interval, steps integer, most integer) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _now constant timestamptz := now();
  _step constant double precision := extract(epoch from read_series.step);
  _from constant timestamptz := date_bin(read_series.step, _now, 'epoch') - read_series.step * (read_series.steps - 1);
  -- Rows read per step. In a sample, this cuts steps that were much busier than others. Otherwise no step is cut.
  _cap integer := read_series.most;
  _oldest uuid;
  _share double precision := 1;
begin
  select r.id into _oldest from runledger.submission r
  where r.id >= runledger.uuid_floor(_from)
  order by r.id desc offset read_series.most limit 1;
  if found then
    _cap := greatest(1, 4 * read_series.most / read_series.steps);
    _share := greatest(0.001, least(1, extract(epoch from _now - runledger.uuid_time(_oldest)) / extract(epoch from _now - _from)));
  end if;

  return (
    with span as materialized (
      select s.n, s.starts_at, s.ends_at, s.looks_at, s.looks_at + (s.ends_at - s.starts_at) * _share as looks_until
      from (
        select n, starts_at, ends_at,
          -- A fixed pseudo-random offset within the step, so that periodic submissions are neither always nor never sampled.
          starts_at + (ends_at - starts_at) * (1 - _share) * abs(hashint8(extract(epoch from starts_at)::bigint) % 1000) / 1000 as looks_at
        from (
          select n, _from + read_series.step * n as starts_at, least(_now, _from + read_series.step * (n + 1)) as ends_at
          from generate_series(0, read_series.steps - 1) n
        ) plain
      ) s
    ), looked as materialized (
      select span.*, r.status, r.created_at, r.started_at, r.finished_at, count(*) over mine = _cap as is_cut, max(r.created_at) over mine as last
      from span
      cross join lateral (
        select r.* from runledger.submission r
        where r.id >= runledger.uuid_floor(span.looks_at) and r.id < runledger.uuid_floor(span.looks_until + interval '1 ms')
        order by r.id limit _cap
      ) r
      window mine as (partition by span.n)
    ), weighed as materialized (
      select l.n, l.status, l.created_at, l.started_at, l.finished_at,
        extract(epoch from l.ends_at - l.starts_at)::double precision / greatest(0.001, extract(epoch from
          case when l.is_cut then l.last else l.looks_until end - l.looks_at
        ))::double precision as weight,
        floor(extract(epoch from coalesce(l.started_at, l.finished_at) - _from)::double precision / _step) as left_in,
        floor(extract(epoch from l.finished_at - _from)::double precision / _step) as ended_in
      from looked l
    ), came as (
      select w.n, sum(w.weight) as received,
        percentile_disc(0.95) within group (order by extract(epoch from
          -- A submission that still waits has waited at least this long; one that was cancelled before it ran is left out.
          coalesce(w.started_at, case when w.finished_at is null then _now end) - w.created_at
        )::double precision) as waited
      from weighed w group by w.n
    ), went as (
      select w.left_in as n, sum(w.weight) as gone from weighed w where w.left_in is not null group by w.left_in
    ), ended as (
      select w.ended_in as n, sum(w.weight) as ended, sum(w.weight) filter (where w.status = 'failed') as failed
      from weighed w where w.ended_in is not null group by w.ended_in
    )
    select jsonb_build_object(
      'at', _now, 'step_seconds', _step, 'share', _share,
      'points', jsonb_agg(jsonb_build_object(
        'at', point.starts_at, 'seconds', point.seconds,
        'received', round(point.received), 'ended', round(point.ended), 'failed', round(point.failed),
        'waiting', round(point.waiting), 'waited_p95', point.waited
      ) order by point.n)
    )
    from (
      select span.n, span.starts_at, extract(epoch from span.ends_at - span.starts_at) as seconds,
        coalesce(came.received, 0) as received, coalesce(ended.ended, 0) as ended, coalesce(ended.failed, 0) as failed, came.waited,
        greatest(0, sum(coalesce(came.received, 0) - coalesce(went.gone, 0)) over (order by span.n)) + (
          -- These submissions have waited since before the first step.
          select count(*) from runledger.pending p
          where p.submission_id < runledger.uuid_floor(_from) and not p.is_running
        ) as waiting
      from span
      left join came on came.n = span.n
      left join went on went.n = span.n
      left join ended on ended.n = span.n
    ) point
  );
end
$$;
comment on function runledger.read_series is 'Returns so many steps up to now; the last one is not over. Each has at (its start), seconds, received, ended and failed (of the submissions received since the first step), waiting (for admission or a worker, at its end) and waited_p95 (of the submissions received in the step; null: none started or waits). Reads about `most` submissions, at most five times as many. share: the part of the time that was sampled.';
