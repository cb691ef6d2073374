-- Called only by web processes of the release before, while a new one goes out.

drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean,
  boolean
);
drop function if exists runledger.receive_batch(uuid, jsonb, text, integer, jsonb, integer, uuid, bytea);

create or replace function runledger.receive_submission(
  submission_id uuid,
  api_key_id uuid,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  webhook_id uuid,
  webhook_url text,
  webhook_secret text,
  schema_version integer,
  data jsonb,
  metadata jsonb,
  awaited boolean,
  capacity integer,
  idempotency_key uuid,
  request_digest bytea,
  wakes boolean default true,
  checks_key boolean default false,
  told_at_end boolean default false,
  told_to text default null
) returns table (id uuid, replayed boolean, matches boolean)
language plpgsql security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return query select * from runledger.receive_submission(
    jsonb_build_object(
      'submission_id', receive_submission.submission_id,
      'api_key_id', receive_submission.api_key_id,
      'webhook_id', receive_submission.webhook_id,
      'webhook_url', receive_submission.webhook_url,
      'webhook_secret', receive_submission.webhook_secret,
      'schema_version', receive_submission.schema_version,
      'data', receive_submission.data,
      'metadata', receive_submission.metadata,
      'capacity', receive_submission.capacity,
      'idempotency_key', receive_submission.idempotency_key,
      'request_digest', receive_submission.request_digest,
      'checks_key', receive_submission.checks_key,
      'told_to', receive_submission.told_to
    ),
    receive_submission.code, receive_submission.stdin, receive_submission.expected_stdout
  );
  if receive_submission.wakes and receive_submission.told_to is null then
    perform job.wake_workers(1);
  end if;
end
$$;
comment on function runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean,
  boolean, text
) is 'receive_submission as the release before calls it: told_to is given where somebody waits.';

create or replace function runledger.receive_batch(
  api_key_id uuid,
  items jsonb,
  answer text,
  schema_version integer,
  metadata jsonb,
  capacity integer,
  idempotency_key uuid,
  request_digest bytea,
  wakes boolean default true
) returns table (given_answer text, replayed boolean, matches boolean)
language plpgsql security definer set search_path = ''
as $$
begin
  return query select * from runledger.receive_batch(
    jsonb_build_object(
      'api_key_id', receive_batch.api_key_id,
      'capacity', receive_batch.capacity,
      'idempotency_key', receive_batch.idempotency_key,
      'request_digest', receive_batch.request_digest,
      'items', (
        select jsonb_agg(
          jsonb_build_object(
            'code', item -> 'code', 'stdin', item -> 'stdin', 'expected_stdout', item -> 'expected_stdout',
            'request', (item - '{id,code,stdin,expected_stdout}'::text[]) || jsonb_build_object(
              'submission_id', item -> 'id',
              'api_key_id', receive_batch.api_key_id,
              'schema_version', receive_batch.schema_version,
              'metadata', receive_batch.metadata
            )
          )
          order by n
        )
        from jsonb_array_elements(receive_batch.items) with ordinality e (item, n)
      )
    ),
    receive_batch.answer
  );
  if receive_batch.wakes then
    perform job.wake_workers(jsonb_array_length(receive_batch.items));
  end if;
end
$$;
comment on function runledger.receive_batch(uuid, jsonb, text, integer, jsonb, integer, uuid, bytea, boolean)
  is 'receive_batch as the release before calls it.';
