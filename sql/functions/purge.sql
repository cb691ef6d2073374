-- Retention, and removal at a caller's wish. Unfinished submissions, and those with a webhook to deliver, their own or their
-- batch's, stay.

create or replace function runledger.purge_bodies(older_than interval, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _before timestamptz := now() - purge_bodies.older_than;
  _ids uuid[];
begin
  if not pg_try_advisory_xact_lock(71830, -3) then
    return 0;
  end if;
  -- An id from a wrong clock must not purge early. Such ids stand in the default partition, which is searched whole.
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
    -- Its caller may be removing it at this moment.
    for update of r skip locked
  );
  return runledger.remove_bodies(
    _ids, 'retention', jsonb_build_object('actor', jsonb_build_object('retention', purge_bodies.older_than::text))
  );
end
$$;
comment on function runledger.purge_bodies is 'Removes the bodies and outputs of at most `batch` submissions that ended longer ago than that, and appends submission.purged to each; returns how many. 0: there are none left, or somebody else is at it.';

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
comment on function runledger.purge_submission is 'Removes the bodies and outputs of one submission of an account at its wish, and appends submission.purged: purged. Nothing is done when it has not ended (unfinished) or its webhook, or its batch''s, is to be delivered (undelivered); null: the account has none such, or it was purged before.';

create or replace function runledger.list_subjects(submissions uuid[]) returns table (submission_id uuid, subject uuid)
language sql stable
as $$
  select member.id, member.id from unnest(list_subjects.submissions) member (id)
  union all
  select e.stream_id, (e.data ->> 'batch')::uuid from runledger.event e
  where e.stream_id = any (list_subjects.submissions) and e.stream_version = 1 and e.data ? 'batch'
$$;
comment on function runledger.list_subjects is 'What the webhooks of these submissions are of: each itself, and its batch if that has one.';

create or replace function runledger.is_undelivered(submission_id uuid) returns boolean
language sql stable
as $$
  select exists (
    select from runledger.list_subjects(array[is_undelivered.submission_id]) s
    join runledger.delivery d on d.submission_id = s.subject
    where d.state in ('waiting', 'pending')
  )
$$;
comment on function runledger.is_undelivered is 'True when a webhook of the submission, or of its batch, is still to be delivered.';

create or replace function runledger.remove_bodies(submissions uuid[], reason text, metadata jsonb) returns integer
language plpgsql
as $$
declare
  _ids uuid[];
begin
  -- An operator may be having a webhook sent again at this moment: locked, its state is the last one. In their order, as an end
  -- locks several batches (runledger.end_submissions): else the two could wait for each other.
  perform from runledger.delivery d
  where d.submission_id in (select s.subject from runledger.list_subjects(remove_bodies.submissions) s)
  order by d.submission_id for update;
  _ids := array(
    select member.id from unnest(remove_bodies.submissions) member (id) where not runledger.is_undelivered(member.id)
  );
  update runledger.result r set version = purged.stream_version, purged_at = purged.recorded_at
  from runledger.append_events(array(
    select row(
      head.stream_id, head.stream_version + 1, 'submission.purged', 1, jsonb_build_object('reason', remove_bodies.reason),
      remove_bodies.metadata, head.hash
    )::runledger.new_event
    from (
      select distinct on (e.stream_id) e.stream_id, e.stream_version, e.hash
      from runledger.event e
      where e.stream_id = any (_ids)
      order by e.stream_id, e.stream_version desc
    ) head
    where not exists (
      select from runledger.event e where e.stream_id = head.stream_id and e.type = 'submission.purged'
    )
  )) purged
  where r.id = purged.stream_id;
  update runledger.delivery d set url = null
  where d.submission_id in (select s.subject from runledger.list_subjects(_ids) s);
  delete from runledger.output where output.submission_id = any (_ids);
  delete from runledger.body where body.submission_id = any (_ids);
  return cardinality(_ids);
end
$$;
comment on function runledger.remove_bodies is 'Removes the bodies, outputs and webhook addresses of these submissions and their batches, whose results are locked, and appends submission.purged to those that have none yet; but not of those that owe a webhook, of their own or their batch''s. Returns how many.';
