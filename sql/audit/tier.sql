create or replace view audit.tier as
select
  t.name,
  t.requests_per_minute,
  t.concurrent_executions,
  (
    select count(*) from runledger.api_key k
    where k.tier = t.name and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  ) as keys,
  t.limits,
  t.blob_bytes,
  t.weight,
  t.total_seconds,
  t.output_bytes,
  t.cores,
  t.batch_items
from runledger.tier t;
comment on view audit.tier is 'The limits of keys: requests in any 60 seconds, concurrent executions; null is unlimited. keys: the number of valid keys; limits: the upper bounds of a submission''s limits; blob_bytes: the most bytes of blobs of an account; weight: of the account''s share of the slots; total_seconds: how long a submission may run in all; output_bytes: the most bytes of an account''s outputs that are kept in a day; cores: the most that a box may use at once, null: its slot''s share of the worker''s cores; batch_items: the most submissions of a batch.';
