-- A delivery's job has the webhook's id as its key.

create or replace function job.enqueue_deliver(webhook_id uuid, run_at timestamptz) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select graphile_worker.add_job(
    'deliver',
    json_build_object('webhook', enqueue_deliver.webhook_id),
    run_at => enqueue_deliver.run_at,
    job_key => enqueue_deliver.webhook_id::text
  )
$$;
comment on function job.enqueue_deliver is 'Enqueues one attempt to deliver a webhook in the caller''s transaction.';
