create or replace view audit.api_key as
select k.id, account.name as account, k.label, k.tier, k.created_at, k.expires_at, k.revoked_at, k.role,
  k.read_only, k.name
from runledger.api_key k
join runledger.account on account.id = k.account_id;
comment on view audit.api_key is 'API keys, without their secrets; label is the key''s first characters.';
comment on column audit.api_key.role is 'submit, or operator: an operator''s key inspects and controls the service, and submits nothing.';
comment on column audit.api_key.read_only is 'True for an operator''s key that can only read.';
comment on column audit.api_key.name is 'The name given when the key was issued, which its successors keep; null: none. Not unique.';
