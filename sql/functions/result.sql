-- Reads submissions for callers, and registers who is notified of their ends.

create or replace function runledger.read_result(submission_id uuid, account_id uuid)
returns setof runledger.record
-- Not SQL: because of the partitions, PostgreSQL would plan it on every call, which takes four times as long as running it.
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select
      r.id, r.status, r.verdict, r.language, r.runtime, r.exit_code, r.signal, r.stdout_truncated, r.stderr_truncated,
      r.cpu_time, r.wall_time, r.memory_peak, r.created_at, r.started_at, r.finished_at, r.purged_at,
      o.stdout, o.stderr, o.compile_output,
      d.webhook_id, d.state, d.attempts, case when d.state = 'pending' then d.due_at end,
      r.tag, r.output_encoding, r.exceeded, r.compile, o.report, r.rerun_of,
      started.limits, started.attempt, requested.recorded_at,
      case when d.attempts > 0 and d.state <> 'delivered' then (
        select e.data - 'submission' from runledger.event e
        where e.stream_id = d.webhook_id and e.type = 'webhook.attempt_failed'
        order by e.stream_version desc limit 1
      ) end,
      r.score, r.max_score
    from runledger.submission r
    left join runledger.output o on o.submission_id = read_result.submission_id
    left join runledger.delivery d on d.submission_id = read_result.submission_id
    left join lateral (
      select e.data -> 'limits' as limits, (e.data ->> 'attempt')::integer as attempt from runledger.event e
      where e.stream_id = read_result.submission_id and e.type = 'execution.started'
      order by e.stream_version desc limit 1
    ) started on true
    left join lateral (
      select e.recorded_at from runledger.event e
      where e.stream_id = read_result.submission_id and e.type = 'submission.cancel_requested'
      order by e.stream_version desc limit 1
    ) requested on true
    where r.id = read_result.submission_id and r.account_id = read_result.account_id;
end
$$;
comment on function runledger.read_result is 'Returns one submission of an account with its outputs (null once purged), its last attempt and its webhook; no row when the account has no such submission.';

create or replace function runledger.await_submissions(submission_ids uuid[], waiter text) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update runledger.pending set waiters = array_append(pending.waiters, await_submissions.waiter)
  where pending.submission_id in (
    select p.submission_id from runledger.pending p
    where p.submission_id = any (await_submissions.submission_ids)
      and await_submissions.waiter <> all (coalesce(p.waiters, '{}'))
    order by p.submission_id for update
  )
$$;
comment on function runledger.await_submissions is 'Requests a notification on the channel waiter when each of the submissions has ended. Read their state after this call, not before.';
