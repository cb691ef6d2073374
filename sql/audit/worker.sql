create or replace view audit.worker as
select
  w.id, w.host, w.pid, w.slots, w.started_at, w.renewed_at, w.stopped_at, life.alive, w.suspended_at,
  w.version, w.isolation, w.languages,
  case
    when w.is_lost then 'lost'
    when w.stopped_at is not null then 'drained'
    when not life.alive then 'gone'
    when w.wanted = 'drained' then 'draining'
    when w.wanted = 'restarted' then 'restarting'
    when w.wanted = 'paused' then 'paused'
    when w.suspended_at is not null then 'suspended'
    else 'working'
  end as state,
  case when w.suspended_at is not null then coalesce(w.suspended_because, 'its sandbox failed') end as suspended_because,
  w.wanted
from runledger.worker w
cross join lateral (select runledger.is_worker_alive(w.id) as alive) life;
comment on view audit.worker is 'Worker processes, past and present: their release, their boxes, what they run, and what they do; suspended_at: since when one takes no submissions, because its sandbox failed.';
comment on column audit.worker.version is 'Of Runledger.';
comment on column audit.worker.isolation is 'How its boxes are made; as in audit.execution.';
comment on column audit.worker.languages is 'What it runs: versions, command lines and limits of each language.';
comment on column audit.worker.state is 'working, suspended, paused, draining (it ends when it has finished what it has), restarting (it begins again then), gone (it is silent, and nobody has given it up yet), lost (it was given up), or drained (it ended by itself).';
comment on column audit.worker.suspended_because is 'What failed, in the worker''s own words.';
comment on column audit.worker.wanted is 'What operators want of it: working, paused, drained or restarted; who wanted that, its stream says (audit.event).';
