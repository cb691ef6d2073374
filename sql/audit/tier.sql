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
comment on view audit.tier is 'What keys may use: requests in any 60 seconds, executions at once; null is without a limit. keys: how many of it are in force; limits: the most that a submission may ask for; blob_bytes: the most that an account may have in blobs; weight: of an account''s share of the slots; total_seconds: what a submission may run in all; output_bytes: the most that is kept of an account''s outputs in a day; cores: that a box may use at once, null: its slot''s share of the worker''s; batch_items: the most submissions of a batch.';
