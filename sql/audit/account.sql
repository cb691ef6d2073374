create or replace view audit.account as
select account.id, account.name, account.created_at from runledger.account;
comment on view audit.account is 'Accounts.';
