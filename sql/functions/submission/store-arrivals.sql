-- Stores new submissions: log, bodies, projection and jobs.

create or replace function runledger.store_arrivals(arrivals runledger.arrival[]) returns void
language plpgsql
as $$
declare
  _events runledger.new_event[] := array(
    select row(
      (a.request).submission_id, 1, 'submission.received', (a.request).schema_version, (a.request).data,
      (a.request).metadata, null
    )::runledger.new_event
    from unnest(store_arrivals.arrivals) a
  );
  _places job.place[];
begin
  perform runledger.apply_events(_events, runledger.append_events(_events));
  insert into runledger.body (submission_id, code, stdin, expected_stdout, detail)
  select (a.request).submission_id, a.code, a.stdin, a.expected_stdout, a.detail
  from unnest(store_arrivals.arrivals) a;
  insert into runledger.delivery (submission_id, webhook_id, url, secret)
  select (a.request).submission_id, (a.request).webhook_id, (a.request).webhook_url, (a.request).webhook_secret
  from unnest(store_arrivals.arrivals) a
  where (a.request).webhook_id is not null;

  -- Before a turn is taken: no rollback gives back what it is charged.
  perform runledger.refuse_late();
  with placed as (
    select
      a.request, a.admitted, a.account_id, is_low, (taken.next).*,
      coalesce(octet_length(a.code), 0) + coalesce(octet_length(a.stdin), 0) + coalesce(octet_length(a.expected_stdout), 0)
        + coalesce(octet_length(a.detail), 0) as bytes
    from unnest(store_arrivals.arrivals) a
    cross join lateral (select coalesce((a.request).data ->> 'priority' = 'low', false)) priority (is_low)
    -- A low one has no turn; one that waits for a place of its key gets it there. A join's condition would be looked at after
    -- the turn was taken, and without `offset` the call would be made for each column.
    cross join lateral (
      select case when a.admitted and not is_low then job.next_turn(a.account_id, a.weight) end as next offset 0
    ) taken
  ), stored as (
    insert into runledger.pending (submission_id, api_key_id, admitted, told_to, is_low, turn, charge)
    select
      (placed.request).submission_id, (placed.request).api_key_id, placed.admitted,
      case when (placed.request).told_to is not null then array[(placed.request).told_to] end, placed.is_low, placed.turn,
      placed.charge
    from placed
  )
  select array_agg(
    row(
      (placed.request).submission_id, (placed.request).data ->> 'language', placed.is_low, placed.turn, placed.account_id,
      placed.debt, placed.bytes
    )::job.place
  )
  into _places
  from placed where placed.admitted;
  if _places is not null then
    perform job.enqueue_first(_places);
    perform job.wake_workers(count(*)::integer)
    from unnest(store_arrivals.arrivals) a
    where a.admitted and (a.request).told_to is not null
    having count(*) > 0;
  end if;
  -- By now the callers were answered 503: it must not take effect.
  perform runledger.refuse_late();
end
$$;
comment on function runledger.store_arrivals is 'Appends submission.received of each, with all that belongs to it. Wakes workers for those that somebody waits for; their callers wake them for others. 57014: it took more than 1.5 s; nothing was written.';
