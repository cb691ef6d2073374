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
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Nothing that is known of an operator's key may end in one that submits, nor the other way round.
  if exists (
    select from runledger.api_key k
    where k.id = (issue_key.data ->> 'replaces')::uuid and k.role <> coalesce(issue_key.data ->> 'role', 'submit')
  ) then
    raise exception 'a key is replaced by one of its own role' using errcode = 'RL024';
  end if;
  insert into runledger.account (id, name)
  values (issue_key.account_id, issue_key.account_name)
  on conflict (name) do nothing;
  insert into runledger.api_key (id, account_id, tier, label, digest, expires_at, role, read_only)
  select
    issue_key.api_key_id, account.id, issue_key.tier, issue_key.label, issue_key.digest, issue_key.expires_at,
    coalesce(issue_key.data ->> 'role', 'submit'), coalesce((issue_key.data ->> 'read_only')::boolean, false)
  from runledger.account
  where account.name = issue_key.account_name;
  perform runledger.append_event(
    issue_key.api_key_id, 1, 'api_key.issued', issue_key.schema_version, issue_key.data, issue_key.metadata
  );
end
$$;
comment on function runledger.issue_key is 'Stores a key''s digest and appends api_key.issued; makes the account, with this id, if there is none of its name yet. data.role: submit, when left out. RL024: it is of another role than the key that it replaces.';
