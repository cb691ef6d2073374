create or replace view audit.delivery as
select submission_id, webhook_id, substring(url from '^https://[^/?#]+') as receiver, state, attempts, due_at
from runledger.delivery;
comment on view audit.delivery is 'Webhooks: one row a submission that asked for one. The attempts are the events of the stream webhook_id.';
