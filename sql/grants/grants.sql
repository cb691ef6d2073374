-- The rights of the roles: all revokes first, then the grants. The service's processes call functions and read tables; only
-- the owner writes tables. Roles that could not be created are skipped.

revoke all on schema runledger, job, audit from public;
revoke all on all tables in schema runledger, audit from public;
revoke all on all routines in schema runledger, job from public;

do $$
declare
  _table text;
begin
  if exists (select from pg_catalog.pg_roles where rolname = 'runledger_api') then
    revoke all on all tables in schema runledger, audit from runledger_api;
    revoke all on all routines in schema runledger, job from runledger_api;
    grant usage on schema runledger to runledger_api;
    grant select on runledger.submission, runledger.unfinished, runledger.result, runledger.body, runledger.output, runledger.event, runledger.schema_migration, runledger.ledger_check
      to runledger_api;
    grant select (submission_id, webhook_id, attempts, state, due_at) on runledger.delivery to runledger_api;
    grant select (blob_bytes) on runledger.account to runledger_api;
    grant select (account_id, sha256, bytes) on runledger.blob to runledger_api;
    grant execute on function
      runledger.oldest_release,
      runledger.admit_request, runledger.receive,
      runledger.rerun_submission,
      runledger.flush_log, runledger.await_submissions, runledger.cancel, runledger.purge_submission,
      runledger.estimate_drain, runledger.list_recent_language, runledger.read_load,
      runledger.read_class_load, runledger.read_overview, runledger.read_series,
      runledger.command_worker, runledger.find_bulk, runledger.verify,
      runledger.find_operator_key, runledger.replay_delivery,
      runledger.read_progress, runledger.read_result, runledger.sweep_workers, runledger.reconcile_queue,
      runledger.check_ledger,
      runledger.store_blob, runledger.add_blob_chunk, runledger.name_file, runledger.read_files,
      runledger.watch_submissions, runledger.read_live_output
      to runledger_api;
    -- A receipt is signed only when the events match their hashes, so web processes read audit.broken_chain.
    grant usage on schema audit to runledger_api;
    -- Operators list these views. The functions of a view run with the reader's rights, so they are granted too.
    grant select on audit.broken_chain, audit.overview, audit.running, audit.worker, audit.webhook, audit.rerun, audit.account, audit.api_key to runledger_api;
    grant execute on function runledger.hash_event, runledger.is_worker_alive to runledger_api;
  end if;

  if exists (select from pg_catalog.pg_roles where rolname = 'runledger_worker') then
    revoke all on all tables in schema runledger, audit from runledger_worker;
    revoke all on all routines in schema runledger, job from runledger_worker;
    grant usage on schema runledger to runledger_worker;
    grant select on runledger.submission, runledger.output, runledger.blob_chunk, runledger.schema_migration to runledger_worker;
    -- Any role can send any NOTIFY, so workers look up what is cancelled or watched. The names of channels are secret.
    grant select (submission_id, is_cancelled) on runledger.pending to runledger_worker;
    grant select (submission_id, expires_at) on runledger.watch to runledger_worker;
    grant execute on function
      runledger.oldest_release,
      runledger.register_worker, runledger.renew_worker, runledger.stop_worker,
      runledger.command_worker,
      runledger.sweep_workers, runledger.reconcile_queue, runledger.check_ledger,
      runledger.start, runledger.requeue_jobs, runledger.conclude, runledger.interrupt,
      runledger.lend_slot, runledger.take_slot,
      runledger.publish_output, runledger.forget_output, runledger.count_output,
      runledger.read_delivery, runledger.read_batch, runledger.record_attempt, runledger.postpone_delivery,
      runledger.make_partitions, runledger.purge_bodies, runledger.purge_blobs, runledger.drop_partition
      to runledger_worker;
    grant execute on procedure runledger.conclude_and_notify to runledger_worker;
    -- The health check of a worker's container reads audit.worker.
    grant usage on schema audit to runledger_worker;
    grant select on audit.worker to runledger_worker;
    grant execute on function runledger.is_worker_alive to runledger_worker;
  end if;

  -- A worker takes its jobs through graphile-worker's own statements, so it is also a member of this role. graphile-worker's
  -- tables have row-level security without any policy, which hides every row from all roles but the owner.
  if exists (select from pg_catalog.pg_roles where rolname = 'runledger_queue') then
    revoke all on all tables in schema runledger, audit from runledger_queue;
    revoke all on all routines in schema runledger, job from runledger_queue;
    grant usage on schema graphile_worker to runledger_queue;
    grant select, insert, update, delete on all tables in schema graphile_worker to runledger_queue;
    revoke insert, update, delete on graphile_worker.migrations from runledger_queue;
    grant usage on all sequences in schema graphile_worker to runledger_queue;
    grant execute on all functions in schema graphile_worker to runledger_queue;
    for _table in
      select c.relname from pg_catalog.pg_class c
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relrowsecurity
    loop
      execute format('drop policy if exists runledger_queue on graphile_worker.%I', _table);
      execute format(
        'create policy runledger_queue on graphile_worker.%I to runledger_queue using (true) with check (true)', _table
      );
    end loop;
  end if;

  if exists (select from pg_catalog.pg_roles where rolname = 'runledger_auditor') then
    revoke all on all tables in schema runledger, audit from runledger_auditor;
    revoke all on all routines in schema runledger, job from runledger_auditor;
    grant usage on schema audit, runledger to runledger_auditor;
    grant select on all tables in schema audit to runledger_auditor;
    -- Views call these functions, which then run with the reader's rights.
    grant execute on function
      runledger.hash_event, runledger.is_worker_alive, runledger.read_outcome, runledger.read_requirements, runledger.closes_submission,
      runledger.count_blob, runledger.list_blobs, runledger.read_overview, runledger.uuid_time, runledger.verify
      to runledger_auditor;
  end if;
end
$$;
