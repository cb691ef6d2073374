create or replace view audit.account as
select account.id, account.name, account.created_at, account.blob_bytes from runledger.account;
comment on view audit.account is 'Accounts. blob_bytes: what their blobs count.';
