-- By its key, the submission's id, a job replaces an earlier one and never runs twice at once. Task and payload name
-- the language, for a worker that runs it; the log has the last word.

create or replace function job.enqueue_execute(submission_id uuid, delay_seconds integer default 0) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform graphile_worker.add_job(
    coalesce(job.name_task(received.data ->> 'language'), 'execute'),
    json_build_object('submission', enqueue_execute.submission_id, 'language', received.data ->> 'language'),
    run_at => case
      when enqueue_execute.delay_seconds > 0 then now() + make_interval(secs => enqueue_execute.delay_seconds)
      -- Of what has ended nothing is begun: its job is soon gone.
      when p.submission_id is null then job.turn_time(0)
      else job.turn_time(job.find_turn(enqueue_execute.submission_id))
    end,
    job_key => enqueue_execute.submission_id::text,
    -- A real time comes after every turn: what was delayed goes before all turns.
    priority => job.rank(p.is_low, given_back => enqueue_execute.delay_seconds > 0 and not p.is_low)
  )
  from runledger.event received
  left join runledger.pending p on p.submission_id = received.stream_id
  where received.stream_id = enqueue_execute.submission_id and received.stream_version = 1;
end
$$;
comment on function job.enqueue_execute is 'Enqueues the execution of one submission again, or later, in the caller''s transaction.';
