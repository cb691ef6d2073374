-- Writes what runledger.receive has admitted.

create or replace function runledger.store_received(
  submissions jsonb, received runledger.received_request[], limited uuid[]
) returns void
language plpgsql
as $$
declare
  _now constant timestamptz := clock_timestamp();
  _jobs graphile_worker.job_spec[];
  _waiting uuid[] := '{}';
begin
  if store_received.limited <> '{}' then
    -- The locks make the counts exact.
    perform from runledger.api_key k where k.id = any (store_received.limited) order by k.id for no key update;
    _waiting := array(
      -- Counted once for each request, because a key may have very many.
      with request as materialized (
        select r.n, r.api_key_id, r.most - (
          select count(*) from runledger.pending p where p.api_key_id = r.api_key_id and p.admitted
        ) as room
        from unnest(store_received.received) r
        where r.most is not null
      )
      select limited.submission_id
      from (
        select
          s.submission_id, r.api_key_id, s.data -> 'priority' is not distinct from '"low"' as is_low,
          -- Low ones come last, because a later normal one would displace them.
          row_number() over (
            partition by r.api_key_id order by s.data -> 'priority' is not distinct from '"low"', s.ordinality
          ) <= r.room as fits
        from rows from (
          jsonb_to_recordset(store_received.submissions) as (request integer, submission_id uuid, data jsonb)
        ) with ordinality s
        join request r on r.n = s.request
        order by s.ordinality
        offset 0
      ) limited
      where not limited.fits and (limited.is_low or not runledger.displace_low(limited.api_key_id))
    );
  end if;
  with item as materialized (
    select
      s.*, r.api_key_id, r.account_id, r.weight, r.waiter, s.data -> 'priority' is not distinct from '"low"' as is_low,
      s.submission_id <> all (_waiting) as admitted,
      runledger.hash_event(
        null, s.submission_id, 1, 'submission.received', s.schema_version, s.data, s.metadata, _now
      ) as hash
    from rows from (
      jsonb_to_recordset(store_received.submissions) as (
        request integer, submission_id uuid, schema_version integer, data jsonb, metadata jsonb, code text, stdin text,
        expected_stdout text, detail text, blobs text, webhook_id uuid, webhook_url text,
        webhook_secret text
      )
    ) with ordinality s
    join unnest(store_received.received) r on r.n = s.request
  ), appended as (
    insert into runledger.event (stream_id, stream_version, type, schema_version, data, metadata, recorded_at, hash)
    select item.submission_id, 1, 'submission.received', item.schema_version, item.data, item.metadata, _now, item.hash
    from item
  ), kept as (
    insert into runledger.body (submission_id, code, stdin, expected_stdout, detail, blobs)
    select
      item.submission_id, decode(item.code, 'base64'), decode(item.stdin, 'base64'),
      decode(item.expected_stdout, 'base64'), decode(item.detail, 'base64'), decode(item.blobs, 'base64')
    from item
  ), account as materialized (
    select asked.account_id, asked.weight, found.start, found.step
    from (
      select distinct item.account_id, item.weight from item where item.admitted and not item.is_low
    ) asked
    cross join lateral job.find_position(asked.account_id, asked.weight) found
  ), stored as (
    insert into runledger.pending as p (
      submission_id, account_id, api_key_id, language, is_low, requires, admitted, position, version, hash, created_at, tag,
      output_encoding, rerun_of, batch_id, waiters
    )
    select
      item.submission_id, item.account_id, item.api_key_id, item.data ->> 'language', item.is_low,
      runledger.read_requirements(item.data), item.admitted,
      -- A submission that is not admitted gets its position at admission; a low one has none.
      case when item.admitted and not item.is_low then
        account.start + account.step * row_number() over (
          partition by item.account_id, item.weight, item.admitted and not item.is_low order by item.ordinality
        )
      end,
      1, item.hash, _now, item.data ->> 'tag', item.data ->> 'output_encoding', (item.data ->> 'rerun_of')::uuid,
      (item.data ->> 'batch')::uuid, case when item.waiter is not null then array[item.waiter] end
    from item
    left join account using (account_id, weight)
    returning p.submission_id, p.language, p.is_low, p.position, p.admitted
  ), notifying as (
    insert into runledger.delivery (submission_id, webhook_id, url, secret)
    select item.submission_id, item.webhook_id, item.webhook_url, item.webhook_secret
    from item
    where item.webhook_id is not null
  )
  select array_agg(job.describe_execution(stored.submission_id, stored.language, stored.is_low, stored.position))
  into _jobs
  from stored
  where stored.admitted;
  if _jobs is not null then
    perform job.add_executions(_jobs);
  end if;
end
$$;
comment on function runledger.store_received is 'Appends submission.received for each submission of the received requests (runledger.receive), and writes everything that belongs to it. limited: the keys of these requests whose tier limits how many submissions execute at once.';
