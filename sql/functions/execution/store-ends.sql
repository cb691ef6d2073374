-- Ends submissions: log, bodies, projection and what follows, in one transaction.

create or replace function runledger.store_ends(
  ends runledger.attempt_end[],
  out refusals text[],
  out told jsonb
)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
-- As runledger.apply_events.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
  -- In their order. Only partitions between the first and the last are looked into.
  _ids uuid[] := array(select e.submission_id from unnest(store_ends.ends) e order by e.submission_id);
  _first constant uuid := _ids[1];
  _last constant uuid := _ids[cardinality(_ids)];
  _events runledger.new_event[];
begin
  -- Nested loops keep the order.
  select
    array_agg(found.refusal),
    array_agg(
      row(
        found.submission_id, found.started_version + case when found.is_cancelled then 2 else 1 end,
        case when found.is_cancelled then 'submission.cancelled' else 'execution.completed' end, found.schema_version,
        case when found.is_cancelled then found.data - 'verdict' else found.data end, found.metadata, found.previous_hash
      )::runledger.new_event
    ) filter (where found.refusal is null)
  into refusals, _events
  from (
    select
      e.*,
      -- Whichever stands there first decides: asked for, it is cancelled, however the program ended.
      next.type is not null as is_cancelled,
      coalesce(next.hash, started.hash) as previous_hash,
      case
        -- Starts are not waited for on disk: a crash may have given this version to another attempt.
        when started.hash is null then 'RL006'
        when next.type <> 'submission.cancel_requested' then '23505'
        when next.type is null and e.data ->> 'verdict' is null then 'RL009'
      end as refusal
    from unnest(store_ends.ends) e
    left join runledger.event started
      on started.stream_id = e.submission_id and started.stream_version = e.started_version
        and started.stream_id between _first and _last
        and (e.run is null or started.type = 'execution.started' and started.data ->> 'run' = e.run)
    left join runledger.event next
      on next.stream_id = e.submission_id and next.stream_version = e.started_version + 1
        and next.stream_id between _first and _last
  ) found;
  if _events is null then
    return;
  end if;

  _ids := array(select e.stream_id from unnest(_events) e);
  perform runledger.apply_events(_events, runledger.append_events(_events));
  update runledger.body b
  set stdout = e.stdout, stderr = e.stderr, compile_output = e.compile_output, report = e.report
  from unnest(store_ends.ends) with ordinality e
  where b.submission_id = e.submission_id and b.submission_id between _first and _last
    -- Another end of the same submission may have been refused.
    and store_ends.refusals[e.ordinality] is null;
  select jsonb_agg(waited) into told
  from runledger.finish_submissions(_ids) waited;
end
$$;
comment on function runledger.store_ends is 'Appends execution.completed after the execution.started of each end; or, where submission.cancel_requested follows that, submission.cancelled with the same data but the verdict. refusals: of each, in their order, null or why nothing was written of it. 23505: another event stands there, this attempt was given up and its result must be dropped, unless its end was asked for just now: the same call again tells. RL009: data has no verdict, and nobody asked for the end. RL006: there is no such start, a crash of the server has lost it: the submission is to be started again. told: the rows of runledger.finish_submissions, null when there is none. Fails with 23505 when another event came at the same moment; nothing was written of any then.';
