-- The task of a job names its language (job.name_task), so that a worker takes what it can run. What waits under the one name
-- that there was before is moved; what another process puts there in this moment every worker takes, too.

insert into graphile_worker._private_tasks (identifier)
select distinct 'execute:' || (j.payload ->> 'language')
from graphile_worker._private_jobs j
join graphile_worker._private_tasks task on task.id = j.task_id
where task.identifier = 'execute' and j.is_available and j.payload ->> 'language' in ('python', 'cpp', 'java')
on conflict do nothing;

update graphile_worker._private_jobs j
set task_id = named.id
from graphile_worker._private_tasks task, graphile_worker._private_tasks named
where task.identifier = 'execute' and task.id = j.task_id and j.is_available
  and named.identifier = 'execute:' || (j.payload ->> 'language');

-- For workers that do not run everything (job.take_job). Should a release of graphile-worker remove it, they look longer.
create index runledger_by_task on graphile_worker._private_jobs (task_id, priority, run_at) where is_available;
