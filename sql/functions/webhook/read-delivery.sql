-- What one attempt needs. A function, so that the worker's role cannot list all secrets.

create or replace function runledger.read_delivery(webhook_id uuid)
returns table (
  submission_id uuid,
  account_id uuid,
  url text,
  secret text,
  attempt integer,
  round_attempt integer,
  version integer,
  output_bytes bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select
    d.submission_id,
    r.account_id,
    d.url,
    d.secret,
    d.attempts + 1,
    (
      select count(*) + 1 from runledger.event e
      where e.stream_id = d.webhook_id and e.stream_version > head.replayed_version and e.type = 'webhook.attempt_failed'
    )::integer,
    head.version,
    -- The lengths stand in the rows' headers: nothing large is read.
    coalesce(length(b.stdout), 0)::bigint + coalesce(length(b.stderr), 0) + coalesce(length(b.compile_output), 0) + coalesce(length(b.report), 0)
  from runledger.delivery d
  join runledger.result r on r.id = d.submission_id
  left join runledger.body b on b.submission_id = d.submission_id
  cross join lateral (
    select
      coalesce(max(e.stream_version), 0) as version,
      coalesce(max(e.stream_version) filter (where e.type = 'webhook.replayed'), 0) as replayed_version
    from runledger.event e
    where e.stream_id = d.webhook_id
  ) head
  where d.webhook_id = read_delivery.webhook_id
    and d.state = 'pending'
    and d.due_at <= now()
    and d.secret is not null
$$;
comment on function runledger.read_delivery is 'A delivery whose next attempt is due: number of the attempt in all and since the last replay, and the version of its stream, which the attempt''s event must follow. No row: it is over, or not due.';
