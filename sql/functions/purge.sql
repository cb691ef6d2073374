-- Removes bodies by retention or at a caller's request. Unfinished submissions are kept, and so are submissions with an
-- undelivered webhook, of their own or of their batch.

create or replace function runledger.purge_bodies(older_than interval, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _before timestamptz := now() - purge_bodies.older_than;
  _most_bytes constant bigint := 64 * 1024 * 1024;
  _ids uuid[];
begin
  if not pg_try_advisory_xact_lock(71830, -3) then
    return 0;
  end if;
  -- An id from a wrong clock must not cause an early purge. Such ids are in the default partition, which is searched whole.
  _ids := array(
    select b.submission_id
    from (
      select body.submission_id from runledger.body where body.submission_id < runledger.uuid_floor(_before)
      union all
      select body_default.submission_id from runledger.body_default
      where body_default.submission_id >= runledger.uuid_floor(_before)
    ) b
    join runledger.result r on r.id = b.submission_id and r.finished_at < _before
    where not runledger.is_undelivered(r.id)
    limit purge_bodies.batch
    -- The caller may be removing the submission at this moment.
    for update of r skip locked
  );
  -- Bodies of megabytes take long to remove. At least one submission goes, and the rest with the next calls.
  _ids := array(
    select sized.id
    from (
      select
        ids.id, ids.n,
        sum(
          coalesce(octet_length(o.stdout), 0) + coalesce(octet_length(o.stderr), 0) + coalesce(octet_length(o.report), 0)
          + coalesce(octet_length(b.code), 0) + coalesce(octet_length(b.stdin), 0) + coalesce(octet_length(b.detail), 0)
        ) over (order by ids.n) as bytes
      from unnest(_ids) with ordinality ids (id, n)
      left join runledger.output o on o.submission_id = ids.id
      left join runledger.body b on b.submission_id = ids.id
    ) sized
    where sized.n = 1 or sized.bytes <= _most_bytes
  );
  return runledger.remove_bodies(
    _ids, 'retention', jsonb_build_object('actor', jsonb_build_object('retention', purge_bodies.older_than::text))
  );
end
$$;
comment on function runledger.purge_bodies is 'Removes the bodies and outputs of at most `batch` submissions that ended longer ago than that, and appends submission.purged to each; returns how many. 0: none is left, or another session purges now.';

create or replace function runledger.purge_submission(submission_id uuid, account_id uuid, metadata jsonb) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform from runledger.result r
  where r.id = purge_submission.submission_id and r.account_id = purge_submission.account_id and r.purged_at is null
  for update;
  if not found then
    return (
      select 'unfinished' from runledger.pending p
      where p.submission_id = purge_submission.submission_id and p.account_id = purge_submission.account_id
    );
  end if;
  return case runledger.remove_bodies(array[purge_submission.submission_id], 'caller', purge_submission.metadata)
    when 0 then 'undelivered' else 'purged'
  end;
end
$$;
comment on function runledger.purge_submission is 'Removes the bodies and outputs of one submission at the request of its account, and appends submission.purged. Returns purged; unfinished or undelivered (its webhook or its batch''s webhook): nothing was done; null: the account has no such submission, or it was purged before.';

create or replace function runledger.list_subjects(submissions uuid[]) returns setof uuid
language sql stable
as $$
  select member.id from unnest(list_subjects.submissions) member (id)
  union all
  select (e.data ->> 'batch')::uuid from runledger.event e
  where e.stream_id = any (list_subjects.submissions) and e.stream_version = 1 and e.data ? 'batch'
$$;
comment on function runledger.list_subjects is 'Returns the subjects of the webhooks of these submissions: each submission itself and, if it has one, its batch.';

create or replace function runledger.is_undelivered(submission_id uuid) returns boolean
language sql stable
as $$
  select exists (
    select from runledger.list_subjects(array[is_undelivered.submission_id]) s (subject)
    join runledger.delivery d on d.submission_id = s.subject
    where d.state in ('waiting', 'pending')
  )
$$;
comment on function runledger.is_undelivered is 'True when a webhook of the submission or of its batch still has to be delivered.';

create or replace function runledger.remove_bodies(submissions uuid[], reason text, metadata jsonb) returns integer
language plpgsql
as $$
declare
  _ids uuid[];
begin
  -- An operator may be replaying a webhook at this moment, so the rows are locked before their state is read. They are locked
  -- in the order in which an end locks several batches (runledger.end_submissions); otherwise the two could deadlock.
  perform from runledger.delivery d
  where d.submission_id in (select s.subject from runledger.list_subjects(remove_bodies.submissions) s (subject))
  order by d.submission_id for update;
  _ids := array(
    select member.id from unnest(remove_bodies.submissions) member (id) where not runledger.is_undelivered(member.id)
  );
  perform runledger.append_event(
    member.id, null, 'submission.purged', 1, jsonb_build_object('reason', remove_bodies.reason), remove_bodies.metadata
  )
  from unnest(_ids) member (id)
  where member.id <> all (array(
    select e.stream_id from runledger.event e where e.stream_id = any (_ids) and e.type = 'submission.purged'
  ));
  update runledger.result r set version = purged.stream_version, purged_at = purged.recorded_at
  from runledger.event purged
  where purged.stream_id = any (_ids) and purged.type = 'submission.purged'
    and r.id = any (_ids) and r.id = purged.stream_id and r.purged_at is null;
  update runledger.delivery d set url = null
  where d.submission_id in (select s.subject from runledger.list_subjects(_ids) s (subject));
  delete from runledger.output where output.submission_id = any (_ids);
  delete from runledger.body where body.submission_id = any (_ids);
  return cardinality(_ids);
end
$$;
comment on function runledger.remove_bodies is 'Removes the bodies, outputs and webhook addresses of these submissions and their batches, and appends submission.purged to those that have none yet. Skips submissions with an undelivered webhook, of their own or of their batch. The caller has locked their results. Returns how many.';
