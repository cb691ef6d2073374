-- Who may call: accounts, tiers, keys, and each key's window of recent requests.

create table runledger.account (
  id uuid primary key,
  name text not null constraint account_name_length check (length(name) between 1 and 200),
  created_at timestamptz not null default now(),
  constraint account_name_key unique (name)
);
comment on table runledger.account is 'A customer. Submissions, results and idempotency keys belong to accounts.';

create table runledger.tier (
  name text primary key,
  requests_per_minute integer constraint tier_requests check (requests_per_minute > 0),
  concurrent_executions integer constraint tier_executions check (concurrent_executions > 0)
);
comment on table runledger.tier is 'What a key may use. An operator adds a tier by adding a row.';
comment on column runledger.tier.requests_per_minute is 'Requests in any 60 seconds; null is unlimited.';
comment on column runledger.tier.concurrent_executions is 'Submissions of one key executing at once; null is unlimited.';

insert into runledger.tier (name, requests_per_minute, concurrent_executions)
values ('beta', 60, 10), ('unlimited', null, null);

create table runledger.api_key (
  id uuid primary key,
  account_id uuid not null references runledger.account (id),
  tier text not null references runledger.tier (name),
  label text not null,
  digest bytea not null constraint api_key_digest_length check (length(digest) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint api_key_digest_key unique (digest)
);
comment on table runledger.api_key is 'API keys by digest. The key itself is shown once, when it is issued, and stored nowhere.';
comment on column runledger.api_key.label is 'The key''s first characters, enough for a person to tell keys apart.';
comment on column runledger.api_key.digest is 'SHA-256 of the whole key.';
create index api_key_by_account on runledger.api_key (account_id);

create table runledger.rate_window (
  api_key_id uuid primary key references runledger.api_key (id),
  admitted_at timestamptz[] not null
);
comment on table runledger.rate_window is 'When a key''s requests of the last 60 seconds were admitted: an exact sliding window, shared by all web processes.';
