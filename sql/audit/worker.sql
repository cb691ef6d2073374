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
comment on view audit.worker is 'Worker processes, past and present: version, isolation, languages and state. suspended_at: since when a worker takes no submissions, because its sandbox failed.';
comment on column audit.worker.version is 'The version of Runledger.';
comment on column audit.worker.isolation is 'How the worker''s boxes are made, as in audit.execution.';
comment on column audit.worker.languages is 'The languages that the worker runs, each with its version, command lines and limits.';
comment on column audit.worker.state is 'working, suspended, paused, draining (it ends when its submissions have finished), restarting (it drains and then starts again), gone (it is silent, and not yet declared lost), lost (it was declared lost) or drained (it ended by itself).';
comment on column audit.worker.suspended_because is 'What failed, as the worker describes it.';
comment on column audit.worker.wanted is 'What operators want of the worker: working, paused, drained or restarted. Its stream (audit.event) says who gave the command.';
