create or replace view audit.account as
select
  account.id,
  account.name,
  account.created_at,
  account.blob_bytes,
  coalesce(kept.bytes, 0) as output_bytes_today
from runledger.account
left join runledger.kept_output kept
  on kept.account_id = account.id and kept.day = (now() at time zone 'UTC')::date;
comment on view audit.account is 'Accounts. blob_bytes: the bytes of their blobs that count against the quota; output_bytes_today: bytes kept today (UTC) of their runs'' outputs, as of some seconds ago.';
