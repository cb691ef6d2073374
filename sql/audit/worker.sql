create or replace view audit.worker as
select id, host, pid, slots, started_at, renewed_at, stopped_at, runledger.is_worker_alive(id) as alive, suspended_at
from runledger.worker;
comment on view audit.worker is 'Worker processes, past and present; suspended_at: since when one takes no submissions, because its sandbox failed.';
