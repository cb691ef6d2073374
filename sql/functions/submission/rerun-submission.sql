-- A submission again. Its bodies are copied here, so that they pass through no process.

create or replace function runledger.rerun_submission(original uuid, request jsonb)
returns table (id uuid, replayed boolean, matches boolean, refusal text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _original record;
  _refusal text;
begin
  select
    received.data, received.schema_version, r.account_id, r.finished_at is not null as is_final,
    body.submission_id is not null
      and not exists (
        select from jsonb_array_elements(coalesce(received.data -> 'blobs', '[]')) named
        where not exists (
          select from runledger.blob b
          where b.account_id = r.account_id and b.sha256 = decode(named ->> 'sha256', 'hex')
        )
      ) as is_kept, body.code, body.stdin, body.expected_stdout, body.detail
  into _original
  from runledger.result r
  join runledger.api_key k on k.account_id = r.account_id
  join runledger.event received on received.stream_id = rerun_submission.original and received.stream_version = 1
  left join runledger.body on body.submission_id = rerun_submission.original
  where r.id = rerun_submission.original and k.id = (rerun_submission.request ->> 'api_key_id')::uuid;
  if not found then
    return;
  end if;

  _refusal := case when not _original.is_final then 'not_final' when not _original.is_kept then 'purged' end;
  if _refusal is not null then
    -- What was repeated before is replayed all the same. Locked, so that nobody forgets the key meanwhile.
    perform from runledger.idempotency i
    where i.account_id = _original.account_id and i.key = (rerun_submission.request ->> 'idempotency_key')::uuid
      and i.created_at > now() - interval '24 hours'
    for no key update;
    if not found then
      return query select null::uuid, false, false, _refusal;
      return;
    end if;
  end if;

  return query
    select received.id, received.replayed, received.matches, null::text
    from runledger.receive_submission(
      rerun_submission.request || jsonb_build_object(
        'schema_version', _original.schema_version,
        -- A campaign's priority is the campaign's.
        'data', (_original.data - case when _original.data ? 'campaign' then '{campaign,priority}'::text[] else '{}' end) || coalesce(rerun_submission.request -> 'data', '{}') || jsonb_build_object(
          'api_key', rerun_submission.request -> 'api_key_id',
          -- Its secret is gone.
          'webhook', null,
          'rerun_of', coalesce(_original.data -> 'rerun_of', to_jsonb(rerun_submission.original))
        )
      ),
      _original.code, _original.stdin, _original.expected_stdout, _original.detail
    ) received;
end
$$;
comment on function runledger.rerun_submission is 'Receives a submission of the account of request.api_key_id again, with its code, input and all that it asked, but no webhook. request: a runledger.submission_request, whose data is added to what the event says. No row: the account has none such; refusal: not_final or purged, and nothing was written. RL003, 57014: as receive_submission.';
