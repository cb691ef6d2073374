-- What a submission is received with, beside its bodies.

create type runledger.submission_request as (
  submission_id uuid,
  api_key_id uuid,
  webhook_id uuid,
  webhook_url text,
  webhook_secret text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  capacity integer,
  idempotency_key uuid,
  request_digest bytea,
  checks_key boolean,
  told_to text
);
comment on type runledger.submission_request is 'What runledger.receive_submission takes beside the bodies, as a JSON object of these fields; what is left out is null.';
comment on column runledger.submission_request.webhook_id is 'Stream of the delivery; null without a webhook.';
comment on column runledger.submission_request.schema_version is 'Of data, which is what the event says.';
comment on column runledger.submission_request.capacity is 'Unfinished submissions over all keys, with this one; null: there is room.';
comment on column runledger.submission_request.request_digest is 'What makes two requests of one idempotency_key the same.';
comment on column runledger.submission_request.checks_key is 'Nobody has called admit_request.';
comment on column runledger.submission_request.told_to is 'Somebody waits, who is told on this channel of its end and of nothing before, but after flush_log. Null: the caller wakes the workers.';
