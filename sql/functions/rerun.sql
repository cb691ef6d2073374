-- Receives a submission again, for its caller or for an operator's campaign.

create or replace function runledger.rerun_submission(original uuid, request jsonb, at_once integer default null)
returns table (id uuid, outcome text, matches boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _campaign constant text := rerun_submission.request #>> '{data,campaign}';
  _original record;
  -- A rerun of a rerun names the same original.
  _rerun_of uuid;
  _refusal text;
begin
  if _campaign is not null then
    -- Calls of one campaign take turns, so that both counts are exact.
    perform pg_advisory_xact_lock(71831, hashtext(_campaign));
    _refusal := case
      when exists (
        select from runledger.rerun r where r.campaign = _campaign and r.rerun_of = rerun_submission.original
      ) then 'done'
      when rerun_submission.at_once <= (
        select count(*)
        from runledger.pending p
        cross join lateral (
          select from runledger.rerun r where r.submission_id = p.submission_id and r.campaign = _campaign
          offset 0 -- one look-up for each pending submission, however many reruns the campaign has
        ) of_campaign
      ) then 'busy'
    end;
    if _refusal is not null then
      return query select null::uuid, _refusal, false;
      return;
    end if;
  end if;

  select
    received.data, received.schema_version, r.account_id, r.finished_at is not null as is_final,
    body.submission_id is not null
      and not exists (
        select from runledger.list_blobs(body.blobs) named (sha256)
        where not exists (
          select from runledger.blob b where b.account_id = r.account_id and b.sha256 = named.sha256
        )
      ) as is_kept, body.code, body.stdin, body.expected_stdout, body.detail, body.blobs
  into _original
  from runledger.submission r
  join runledger.api_key k on k.account_id = r.account_id
  join runledger.event received on received.stream_id = rerun_submission.original and received.stream_version = 1
  left join runledger.body on body.submission_id = rerun_submission.original
  where r.id = rerun_submission.original and k.id = (rerun_submission.request ->> 'api_key_id')::uuid;
  if not found then
    return;
  end if;

  _rerun_of := coalesce((_original.data ->> 'rerun_of')::uuid, rerun_submission.original);
  _refusal := case when not _original.is_final then 'not_final' when not _original.is_kept then 'purged' end;
  if _refusal is not null then
    -- A repeated request is replayed all the same. The lock keeps the reconciler from deleting the idempotency key meanwhile.
    perform from runledger.idempotency i
    where i.account_id = _original.account_id and i.key = (rerun_submission.request ->> 'idempotency_key')::uuid
      and i.created_at > now() - interval '24 hours'
    for no key update;
    if not found then
      return query select null::uuid, _refusal, false;
      return;
    end if;
  end if;

  select coalesce(received.earlier_id, (rerun_submission.request ->> 'submission_id')::uuid), received.outcome, received.matches
  into rerun_submission.id, rerun_submission.outcome, rerun_submission.matches
  from runledger.receive(
    jsonb_build_array(rerun_submission.request || jsonb_build_object(
      'submissions', 1, 'by_operator', _campaign is not null
    )),
    jsonb_build_array(jsonb_build_object(
      'request', 1,
      'submission_id', rerun_submission.request -> 'submission_id',
      'schema_version', _original.schema_version,
      -- A campaign sets the priority of its reruns, so a rerun of such a rerun does not inherit it.
      'data', (_original.data - 'batch' - case when _original.data ? 'campaign' then '{campaign,priority}'::text[] else '{}' end) || coalesce(rerun_submission.request -> 'data', '{}') || jsonb_build_object(
        'api_key', rerun_submission.request -> 'api_key_id',
        -- The webhook's secret no longer exists.
        'webhook', null,
        'rerun_of', _rerun_of
      ),
      'metadata', rerun_submission.request -> 'metadata',
      -- The bodies do not leave the database.
      'code', encode(_original.code, 'base64'), 'stdin', encode(_original.stdin, 'base64'),
      'expected_stdout', encode(_original.expected_stdout, 'base64'), 'detail', encode(_original.detail, 'base64'),
      'blobs', encode(_original.blobs, 'base64')
    ))
  ) received;
  if rerun_submission.outcome = 'received' then
    insert into runledger.rerun (submission_id, rerun_of, campaign) values (rerun_submission.id, _rerun_of, _campaign);
  end if;
  return next;
end
$$;
comment on function runledger.rerun_submission is 'Receives a submission of the account of request.api_key_id again, with the same code, input and options, but without webhook. request: as in runledger.receive, with the event''s metadata, and data that is added to the event''s data. With data.campaign, which repeats only originals, nothing is received when the campaign has repeated this submission (done) or has at_once reruns unfinished (busy). No row: the account has no such submission. outcome: as in runledger.receive; not_final, purged, done, busy: nothing was written. id: of the new submission, or of the replayed one.';
