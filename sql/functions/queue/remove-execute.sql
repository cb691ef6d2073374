-- graphile_worker.remove_job does this too, and notifies all workers in the transaction.

create or replace function job.remove_execute(submission_id uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  delete from graphile_worker._private_jobs waiting
  where waiting.key = remove_execute.submission_id::text and waiting.locked_at is null
$$;
comment on function job.remove_execute is 'Removes the job of a submission that is not to run, unless it was just handed out: then its start finds the end.';
