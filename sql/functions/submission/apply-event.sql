-- Applies one event to a cached result, one step of runledger.result_from_log; if the row is elsewhere, the view is
-- asked. test/sql/fold.test.ts compares the two.

create or replace function runledger.apply_event(
  submission_id uuid,
  version integer,
  type text,
  data jsonb,
  recorded_at timestamptz
) returns void
language plpgsql set plan_cache_mode = force_generic_plan
as $$
begin
  case apply_event.type
    when 'submission.received' then
      insert into runledger.result (id, account_id, api_key_id, version, status, language, created_at, tag, output_encoding, rerun_of)
      values (
        apply_event.submission_id, (apply_event.data ->> 'account')::uuid, (apply_event.data ->> 'api_key')::uuid,
        apply_event.version, 'queued', apply_event.data ->> 'language', apply_event.recorded_at,
        apply_event.data ->> 'tag', apply_event.data ->> 'output_encoding', (apply_event.data ->> 'rerun_of')::uuid
      );
      if apply_event.data ? 'rerun_of' then
        insert into runledger.rerun (submission_id, rerun_of, campaign)
        values (
          apply_event.submission_id, (apply_event.data ->> 'rerun_of')::uuid, apply_event.data ->> 'campaign'
        );
      end if;
    when 'execution.started' then
      update runledger.result r
      set version = apply_event.version, status = 'running', runtime = apply_event.data ->> 'runtime',
        started_at = apply_event.recorded_at
      where r.id = apply_event.submission_id and r.version = apply_event.version - 1 and r.status = 'queued';
    when 'execution.completed', 'submission.cancelled' then
      update runledger.result r
      set version = apply_event.version, finished_at = apply_event.recorded_at,
        status = outcome.status, verdict = outcome.verdict, exit_code = outcome.exit_code, signal = outcome.signal,
        stdout_truncated = outcome.stdout_truncated, stderr_truncated = outcome.stderr_truncated,
        cpu_time = outcome.cpu_time, wall_time = outcome.wall_time, memory_peak = outcome.memory_peak,
        exceeded = apply_event.data ->> 'limit', compile = nullif(apply_event.data -> 'compile', 'null')
      from runledger.read_outcome(apply_event.type, apply_event.data) outcome
      where r.id = apply_event.submission_id and r.version = apply_event.version - 1 and r.status = 'running';
    when 'submission.purged' then
      update runledger.result r
      set version = apply_event.version, purged_at = apply_event.recorded_at
      where r.id = apply_event.submission_id and r.version = apply_event.version - 1 and r.purged_at is null;
    else
      perform runledger.refresh_result(apply_event.submission_id);
      return;
  end case;
  if not found then
    perform runledger.refresh_result(apply_event.submission_id);
  end if;
end
$$;
comment on function runledger.apply_event is 'Brings runledger.result up to date with an event that was just appended to the submission''s stream.';
