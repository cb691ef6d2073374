create or replace view audit.blob as
select
  a.name as account,
  b.account_id,
  encode(b.sha256, 'hex') as sha256,
  b.bytes,
  b.created_at,
  b.used_at
from runledger.blob b
join runledger.account a on a.id = b.account_id;
comment on view audit.blob is 'Blobs: account, SHA-256, size, when each was uploaded, and when it was last used (to within half a day). Never the bytes.';
