-- Blobs: uploaded in chunks, found, called by ids, counted, purged.

-- What a blob counts against a quota: a row and its index entries are not free, so a million empty ones are not either.

create or replace function runledger.count_blob(bytes integer) returns integer
language sql immutable parallel safe
as $$
  select greatest(count_blob.bytes, 4096)
$$;
comment on function runledger.count_blob is 'Bytes that a blob of this size counts: at least 4 KiB.';

create or replace function runledger.list_blobs(list bytea) returns setof bytea
-- In SQL it would be inlined, and the list be decoded for each of its blobs.
language plpgsql immutable rows 10
as $$
begin
  return query select substr(list_blobs.list, 32 * n + 1, 32) from generate_series(0, length(list_blobs.list) / 32 - 1) n;
end
$$;
comment on function runledger.list_blobs is 'The SHA-256 of each blob in a list as runledger.body.blobs has it.';

-- Begins to store a blob. Locks are taken in the order blob, account, as runledger.purge_blobs takes them.

create or replace function runledger.store_blob(api_key_id uuid, sha256 bytea, bytes integer, content bytea) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _key record;
begin
  select k.account_id, tier.blob_bytes as quota into strict _key
  from runledger.api_key k
  join runledger.tier on tier.name = k.tier
  where k.id = store_blob.api_key_id;

  loop
    -- Waits for another upload of the same, and for a purge of it.
    insert into runledger.blob (account_id, sha256, bytes)
    values (_key.account_id, store_blob.sha256, store_blob.bytes)
    on conflict on constraint blob_pkey do nothing;
    exit when found;
    update runledger.blob b set used_at = now()
    where b.account_id = _key.account_id and b.sha256 = store_blob.sha256;
    if found then
      return false;
    end if;
    -- A purge had marked it before the update, and has removed it by now.
  end loop;

  update runledger.account a set blob_bytes = a.blob_bytes + runledger.count_blob(store_blob.bytes)
  where a.id = _key.account_id
    and (_key.quota is null or a.blob_bytes + runledger.count_blob(store_blob.bytes) <= _key.quota);
  if not found then
    raise exception 'no more than % bytes of blobs', _key.quota using errcode = 'RL018';
  end if;
  perform runledger.add_blob_chunk(store_blob.api_key_id, store_blob.sha256, 0, store_blob.content);
  return true;
end
$$;
comment on function runledger.store_blob is 'Makes a blob of the key''s account with its first chunk; true: it is new, and the same transaction is to add the others. False: it is there already and was used just now. RL018: with it the account would have more than the key''s tier allows.';

create or replace function runledger.add_blob_chunk(api_key_id uuid, sha256 bytea, number integer, content bytea) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into runledger.blob_chunk (account_id, sha256, number, content)
  select b.account_id, b.sha256, add_blob_chunk.number, add_blob_chunk.content
  from runledger.api_key k
  join runledger.blob b on b.account_id = k.account_id and b.sha256 = add_blob_chunk.sha256
  where k.id = add_blob_chunk.api_key_id and b.xmin = pg_current_xact_id()::xid;
  if not found then
    raise exception 'a blob is written once' using errcode = '55000';
  end if;
end
$$;
comment on function runledger.add_blob_chunk is 'Adds a chunk to a blob that this transaction has made. 55000: it has made none of this name, so that nobody changes what is there.';

create or replace function runledger.name_file(api_key_id uuid, id text, sha256 bytea) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _account uuid;
begin
  select k.account_id into strict _account from runledger.api_key k where k.id = name_file.api_key_id;
  insert into runledger.file_id (account_id, id, sha256) values (_account, name_file.id, name_file.sha256)
  on conflict on constraint file_id_pkey do update set sha256 = excluded.sha256, named_at = excluded.named_at;
  -- Quotas count blobs, so that the ids of one are bounded is enough.
  delete from runledger.file_id f
  where f.account_id = _account and f.id in (
    select older.id from runledger.file_id older
    where older.account_id = _account and older.sha256 = name_file.sha256
    order by older.named_at desc, older.id
    offset 64
  );
end
$$;
comment on function runledger.name_file is 'Calls a blob of the key''s account by this id, which may have been another''s. Of more than 64 ids the oldest go.';

create or replace function runledger.read_files(account_id uuid, ids text[], most integer)
returns table (id text, bytes integer, content bytea)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform runledger.use_blobs(array_agg(f.account_id), array_agg(f.sha256))
  from runledger.file_id f
  where f.account_id = read_files.account_id and f.id = any (read_files.ids);

  return query
  with found as materialized (
    select f.id, b.sha256, b.bytes, sum(b.bytes) over () as total
    from runledger.file_id f
    join runledger.blob b on b.account_id = f.account_id and b.sha256 = f.sha256
    where f.account_id = read_files.account_id and f.id = any (read_files.ids)
  )
  select found.id, found.bytes, case when found.total <= read_files.most then (
    select string_agg(c.content, null order by c.number)
    from runledger.blob_chunk c
    where c.account_id = read_files.account_id and c.sha256 = found.sha256
  ) end
  from found;
end
$$;
comment on function runledger.read_files is 'Those of an account''s files that have one of these ids, and notes that they are used; content is null when they have more than `most` bytes in all.';

create or replace function runledger.purge_blobs(older_than interval, batch integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- used_at may lie half a day before the last use; the other half keeps this away from submissions that are being received
  -- (runledger.use_blobs).
  _before timestamptz := now() - purge_blobs.older_than - interval '1 day';
  _purged integer;
begin
  if not exists (select from runledger.blob b where b.used_at < _before)
    or not pg_try_advisory_xact_lock(71830, -7)
  then
    return 0;
  end if;
  with named as materialized (
    select p.account_id, blob.sha256
    from runledger.pending p
    join runledger.body b on b.submission_id = p.submission_id
    cross join runledger.list_blobs(b.blobs) blob (sha256)
  ),
  old as (
    select b.account_id, b.sha256
    from runledger.blob b
    where b.used_at < _before
      and not exists (select from named n where n.account_id = b.account_id and n.sha256 = b.sha256)
    order by b.used_at
    limit purge_blobs.batch
    for update of b skip locked
  ),
  purged as (
    delete from runledger.blob b using old
    where b.account_id = old.account_id and b.sha256 = old.sha256
    returning b.account_id, b.bytes
  ),
  freed as (
    update runledger.account a set blob_bytes = a.blob_bytes - sum.bytes
    from (select p.account_id, sum(runledger.count_blob(p.bytes)) as bytes from purged p group by p.account_id) sum
    where a.id = sum.account_id
  )
  select count(*) into _purged from purged;
  return _purged;
end
$$;
comment on function runledger.purge_blobs is 'Removes at most `batch` blobs that were last used longer ago than that (and a day at most) and that no unfinished submission names; returns how many. 0: there are none left, or somebody else is at it.';
