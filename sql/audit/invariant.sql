create or replace view audit.invariant as
select 'a submission ended twice' as broken, stream_id as subject
from runledger.event
where runledger.closes_submission(type)
group by stream_id having count(*) > 1
union all
select 'a stream has a gap', stream_id
from runledger.event
group by stream_id having max(stream_version) <> count(*) or min(stream_version) <> 1
union all
select
  case
    when d.projection = 'result' then 'the cached result differs from the log'
    when d.projection = 'delivery' then 'a webhook''s state differs from its log'
    when d.projection = 'rerun' then 'what a rerun repeats differs from the log'
    when d.cached is null then 'an unfinished submission is not pending'
    when d.in_the_log is null then 'a finished submission is still pending'
    else 'what is pending differs from the log'
  end,
  d.id
from audit.drift d
union all
select 'a hash does not fit', b.stream_id from audit.broken_chain b
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
select 'something happened to a submission after its end', e.stream_id
from runledger.event e
join runledger.event ended
  on ended.stream_id = e.stream_id and runledger.closes_submission(ended.type)
where e.stream_version > ended.stream_version and (e.type like 'execution.%' or e.type in ('submission.cancel_requested', 'submission.cancelled'))
union all
select 'a body is kept although the log says that it was purged', b.submission_id
from runledger.body b
join runledger.event purged on purged.stream_id = b.submission_id and purged.type = 'submission.purged'
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
-- Kept from being joined first: of some submissions asked for, it would look at all that wait.
cross join lateral (
  select e.data from runledger.event e where e.stream_id = p.submission_id and e.stream_version = 1 offset 0
) received
cross join jsonb_array_elements(received.data -> 'blobs') named
where not exists (
  select from runledger.blob b
  where b.account_id = (received.data ->> 'account')::uuid and b.sha256 = decode(named ->> 'sha256', 'hex')
)
union all
select 'a body is gone although the log does not say that it was purged', r.id
from runledger.result r
where r.purged_at is null and not exists (select from runledger.body b where b.submission_id = r.id);
comment on view audit.invariant is 'One row for each promise that does not hold; empty when all is well.';
