-- Each change of a key is an event of the key's stream.

create or replace function runledger.issue_key(
  api_key_id uuid,
  account_id uuid,
  account_name text,
  tier text,
  label text,
  digest bytea,
  expires_at timestamptz,
  schema_version integer,
  data jsonb,
  metadata jsonb
) returns void
language plpgsql security definer set search_path = ''
as $$
begin
  insert into runledger.account (id, name)
  values (issue_key.account_id, issue_key.account_name)
  on conflict (name) do nothing;
  insert into runledger.api_key (id, account_id, tier, label, digest, expires_at)
  select issue_key.api_key_id, account.id, issue_key.tier, issue_key.label, issue_key.digest, issue_key.expires_at
  from runledger.account
  where account.name = issue_key.account_name;
  perform runledger.append_event(
    issue_key.api_key_id, 1, 'api_key.issued', issue_key.schema_version, issue_key.data, issue_key.metadata
  );
end
$$;
comment on function runledger.issue_key is 'Stores a key''s digest and appends api_key.issued; makes the account, with this id, if there is none of its name yet.';
