-- Blobs: long inputs and expected outputs, uploaded once and named by their SHA-256 in submissions. The functions stand in
-- sql/functions/blob/.

create table runledger.blob (
  account_id uuid not null references runledger.account (id),
  sha256 bytea not null constraint blob_sha256_length check (length(sha256) = 32),
  bytes integer not null constraint blob_bytes check (bytes between 0 and 16777216),
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  constraint blob_pkey primary key (account_id, sha256)
);
comment on table runledger.blob is 'What an account has uploaded to name in submissions. Its bytes stand in blob_chunk. Which submission names which, the log says: data.blobs of submission.received.';
comment on column runledger.blob.used_at is 'When it was last uploaded or named, half a day or less before that moment: not every naming writes.';
create index blob_by_use on runledger.blob (used_at);

create table runledger.blob_chunk (
  account_id uuid not null,
  sha256 bytea not null,
  number integer not null constraint blob_chunk_number check (number >= 0),
  content bytea not null constraint blob_chunk_length check (length(content) <= 262144),
  constraint blob_chunk_pkey primary key (account_id, sha256, number),
  constraint blob_chunk_blob foreign key (account_id, sha256) references runledger.blob (account_id, sha256) on delete cascade
);
comment on table runledger.blob_chunk is 'The bytes of blobs: 256 KiB in each chunk but the last, numbered from 0. Written in the transaction that makes the blob, and never after it.';
-- A caller may have compressed them already, and nobody reads a part of a chunk.
alter table runledger.blob_chunk alter column content set storage external;

alter table runledger.account add column blob_bytes bigint not null default 0
  constraint account_blob_bytes check (blob_bytes >= 0);
comment on column runledger.account.blob_bytes is 'The sum of runledger.count_blob over its blobs, so that a quota is held against one row.';

alter table runledger.tier add column blob_bytes bigint default 268435456
  constraint tier_blob_bytes check (blob_bytes > 0);
comment on column runledger.tier.blob_bytes is 'The most that an account may have in blobs when a key of this tier uploads another; null is unlimited.';
update runledger.tier set blob_bytes = null where name = 'unlimited';
