-- All findings, one row each: those of audit.drift, audit.broken_chain and audit.altered_body, and the broken promises that are
-- defined here. runledger.verify reads a range of ids, and that condition reaches the index of every part.

create or replace view runledger.finding as
select
  'drift' as "check",
  d.id as stream,
  null::bigint as position,
  d.projection || ' ' || d.id as what,
  case
    when d.projection = 'result' then 'the cached result differs from the log'
    when d.projection = 'delivery' then 'a webhook''s state differs from its log'
    when d.projection = 'rerun' then 'what a rerun repeats differs from the log'
    when d.cached is null then 'an unfinished submission is not pending'
    when d.in_the_log is null then 'a finished submission is still pending'
    else 'what is pending differs from the log'
  end as promise
from audit.drift d
union all
select
  'broken_chain', b.stream_id, b.position,
  format(
    'position %s, %s, version %s of stream %s, recorded %s', b.position, b.type, b.stream_version, b.stream_id,
    to_char(b.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  ),
  'a hash does not fit'
from audit.broken_chain b
union all
select 'altered_body', a.submission_id, null, a.part || ' of ' || a.submission_id, null
from audit.altered_body a
union all
select 'promise', p.subject, null, null, p.broken
from (
  select 'a submission ended twice' as broken, stream_id as subject
  from runledger.event
  where runledger.closes_submission(type)
  group by stream_id having count(*) > 1
  union all
  select 'a stream has a gap', stream_id
  from runledger.event
  group by stream_id having max(stream_version) <> count(*) or min(stream_version) <> 1
  union all
  select 'a finished submission''s webhook was forgotten', d.submission_id
  from runledger.delivery d
  where d.state = 'waiting'
    and exists (
      select from runledger.event ended
      where ended.stream_id = d.submission_id and runledger.closes_submission(ended.type)
    )
  union all
  select 'a webhook''s secret outlived its delivery', d.webhook_id
  from runledger.delivery d
  where d.state in ('delivered', 'abandoned') and d.secret is not null
  union all
  select 'a webhook that is due has no secret to sign it with', d.webhook_id
  from runledger.delivery d
  where d.state in ('waiting', 'pending') and d.secret is null
  union all
  select 'something happened to a submission after its end', ended.stream_id
  from runledger.event ended
  -- One look-up for each end, because few events follow an end.
  cross join lateral (
    select e.type from runledger.event e
    where e.stream_id = ended.stream_id and e.stream_version > ended.stream_version offset 0
  ) later
  where runledger.closes_submission(ended.type)
    and (later.type like 'execution.%' or later.type in ('submission.cancel_requested', 'submission.cancelled'))
  union all
  select 'a body is kept although the log says that it was purged', purged.stream_id
  from runledger.event purged
  join runledger.body b on b.submission_id = purged.stream_id
  where purged.type = 'submission.purged'
  union all
  select 'an output is kept although the log says that it was purged', purged.stream_id
  from runledger.event purged
  join runledger.output o on o.submission_id = purged.stream_id
  where purged.type = 'submission.purged'
  union all
  select 'what an account has in blobs is not their sum', a.id
  from runledger.account a
  where a.blob_bytes <> (
    select coalesce(sum(runledger.count_blob(b.bytes)), 0) from runledger.blob b where b.account_id = a.id
  )
  union all
  select 'a blob is not as long as its chunks', b.account_id
  from runledger.blob b
  where b.bytes <> (
    select coalesce(sum(length(c.content)), 0) from runledger.blob_chunk c
    where c.account_id = b.account_id and c.sha256 = b.sha256
  )
  union all
  select 'an unfinished submission names a blob that is gone', p.submission_id
  from runledger.pending p
  join runledger.body b on b.submission_id = p.submission_id
  cross join runledger.list_blobs(b.blobs) named (sha256)
  where not exists (
    select from runledger.blob where blob.account_id = p.account_id and blob.sha256 = named.sha256
  )
  union all
  select 'a body is gone although the log does not say that it was purged', r.id
  from runledger.result r
  where r.purged_at is null and not exists (select from runledger.body b where b.submission_id = r.id)
  union all
  select 'an output is gone although the log does not say that it was purged', r.id
  from runledger.result r
  join runledger.event ended on ended.stream_id = r.id and ended.stream_version = r.version
    and ended.data #>> '{stdout,sha256}' is not null
  where r.purged_at is null and not exists (select from runledger.output o where o.submission_id = r.id)
) p (broken, subject);
comment on view runledger.finding is 'All findings, one row each: the rows of audit.drift, audit.broken_chain and audit.altered_body, and the other rows of audit.invariant. check (drift, broken_chain, altered_body, promise), the stream, the broken event''s position, its description, and the promise that does not hold.';

create or replace view audit.invariant as
select promise as broken, stream as subject from runledger.finding where "check" <> 'altered_body';
comment on view audit.invariant is 'One row for each promise that does not hold; empty when all is well.';
