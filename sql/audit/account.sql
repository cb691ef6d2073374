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
comment on view audit.account is 'Accounts. blob_bytes: what their blobs count; output_bytes_today: what was kept today (UTC) of what their runs have written, some seconds ago.';
