-- A batch with one webhook. The batch's stream names its members, and its row in runledger.delivery has the webhook's address.
-- The end of the last member makes the webhook due, in the same commit (runledger.end_submissions).

create or replace function runledger.read_batch(batch_id uuid)
returns table (id uuid, status text, verdict text, finished_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select r.id, r.status, r.verdict, r.finished_at
  from runledger.event received
  cross join lateral jsonb_array_elements_text(received.data -> 'submissions') with ordinality member (id, n)
  join runledger.result r on r.id = member.id::uuid
  where received.stream_id = read_batch.batch_id and received.stream_version = 1
  order by member.n
$$;
comment on function runledger.read_batch is 'Returns the results of the members of a batch that have ended, in the order of its items.';

create or replace function runledger.lock_submissions(submissions uuid[]) returns void
language plpgsql
as $$
declare
  _batches uuid[];
begin
  perform from runledger.pending p where p.submission_id = any (lock_submissions.submissions) order by p.submission_id for update;
  -- Looked up by id alone: a plan made while few belonged to batches would read the whole batch for each member.
  _batches := array(
    select member.batch_id from unnest(lock_submissions.submissions) submission (id)
    cross join lateral (select p.batch_id from runledger.pending p where p.submission_id = submission.id offset 0) member
    where member.batch_id is not null
  );
  if cardinality(_batches) > 0 then
    perform from runledger.delivery d where d.submission_id = any (_batches) order by d.submission_id for update;
  end if;
end
$$;
comment on function runledger.lock_submissions is 'Locks submissions and then their batches, before the first of them is interrupted or cancelled, which also locks a key. If they were locked one after another, a key would be locked before the next submission, the reverse of the order in which an end locks them, and the two calls could deadlock.';
