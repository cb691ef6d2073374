create or replace view audit.api_key as
select k.id, account.name as account, k.label, k.tier, k.created_at, k.expires_at, k.revoked_at, k.role,
  k.read_only, k.name
from runledger.api_key k
join runledger.account on account.id = k.account_id;
comment on view audit.api_key is 'API keys without anything secret; label is the key''s first characters.';
comment on column audit.api_key.role is 'submit, or operator: such a key looks at the service and steers it, and submits nothing.';
comment on column audit.api_key.read_only is 'An operator''s that looks alone.';
comment on column audit.api_key.name is 'Given when it was issued, and its successors''; null: none. Not unique.';
