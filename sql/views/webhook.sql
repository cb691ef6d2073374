-- Each webhook's state according to the log, which has neither address nor secret. A batch's webhook waits for its last member.

create or replace view runledger.delivery_from_log as
select
  received.stream_id as submission_id,
  webhook.id as webhook_id,
  stream.attempts,
  case stream.last_type
    when 'webhook.delivered' then 'delivered'
    when 'webhook.abandoned' then 'abandoned'
    when 'webhook.attempt_failed' then 'pending'
    when 'webhook.replayed' then 'pending'
    else case
      when exists (
        select from jsonb_array_elements_text(
          coalesce(received.data -> 'submissions', jsonb_build_array(received.stream_id))
        ) member (id)
        where not exists (
          select from runledger.event ended
          where ended.stream_id = member.id::uuid and runledger.closes_submission(ended.type)
        )
      ) then 'waiting'
      else 'pending'
    end
  end as state
from runledger.event received
cross join lateral (select (received.data #>> '{webhook,id}')::uuid as id) webhook
cross join lateral (
  select
    (count(*) filter (where e.type in ('webhook.attempt_failed', 'webhook.delivered')))::integer as attempts,
    (array_agg(e.type order by e.stream_version desc) filter (
      where e.type in ('webhook.delivered', 'webhook.abandoned', 'webhook.attempt_failed', 'webhook.replayed')
    ))[1] as last_type
  from runledger.event e
  where e.stream_id = webhook.id
) stream
where received.type in ('submission.received', 'batch.received') and webhook.id is not null;
comment on view runledger.delivery_from_log is 'The state and the number of attempts of every webhook, computed from the log. The table runledger.delivery caches them, with the address and the secret.';
