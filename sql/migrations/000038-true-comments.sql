-- What comments of earlier migrations said, as it is.

comment on schema runledger is 'Tables and functions of the service. The log is runledger.event. Results, pending submissions, deliveries and reruns can be made from it; accounts, digests of keys, idempotency keys, blobs, and the URL and secret of a webhook cannot.';
comment on column runledger.event.stream_id is 'What it happened to: a submission, a webhook, an API key, a tier, a worker.';
comment on column runledger.event.metadata is 'Who and what caused it: the request''s id, and as actor the key, the worker, the operator, the signal or the retention that acted, or the lost worker whose run was given back (sweep_of).';
comment on column runledger.worker.lease_seconds is 'A worker that has not renewed its lease for so long is lost. It renews thirty times in this time.';
comment on table runledger.tier is 'What a key may use. runledger.define_tier makes one and changes it, with an event.';
