create or replace view audit.invariant as
select 'a submission ended twice' as broken, stream_id as subject
from runledger.event
where type in ('execution.completed', 'execution.abandoned')
group by stream_id having count(*) > 1
union all
select 'a stream has a gap', stream_id
from runledger.event
group by stream_id having max(stream_version) <> count(*)
union all
select 'an unfinished submission is not pending', r.id
from runledger.result_from_log r
where r.status in ('queued', 'running') and not exists (select from runledger.pending p where p.submission_id = r.id)
union all
select 'a finished submission is still pending', p.submission_id
from runledger.pending p
join runledger.result_from_log r on r.id = p.submission_id
where r.status in ('completed', 'failed')
union all
select distinct 'the cached result differs from the log', d.id from audit.drift d
union all
select 'a hash does not fit', b.stream_id from audit.broken_chain b
union all
select 'a finished submission''s webhook was forgotten', d.submission_id
from runledger.delivery d
join runledger.result_from_log r on r.id = d.submission_id
where r.status in ('completed', 'failed') and d.state = 'waiting'
union all
select 'a webhook''s state differs from its log', d.webhook_id
from runledger.delivery d
left join lateral (
  select e.type from runledger.event e where e.stream_id = d.webhook_id order by e.stream_version desc limit 1
) head on true
where d.attempts <> (
    select count(*) from runledger.event e
    where e.stream_id = d.webhook_id and e.type in ('webhook.attempt_failed', 'webhook.delivered')
  )
  or (d.state = 'delivered') <> coalesce(head.type = 'webhook.delivered', false)
  or (d.state = 'abandoned') <> coalesce(head.type = 'webhook.abandoned', false)
union all
select 'a webhook''s secret outlived its delivery', d.webhook_id
from runledger.delivery d
where d.state in ('delivered', 'abandoned') and d.secret is not null
union all
select 'a webhook that is due has no secret to sign it with', d.webhook_id
from runledger.delivery d
where d.state in ('waiting', 'pending') and d.secret is null;
comment on view audit.invariant is 'One row for each promise that does not hold; empty when all is well.';
