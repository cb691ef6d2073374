-- Matches the requirements of a submission with a worker, and makes the data of its execution.started.

-- A worker of an earlier release would ignore options of a submission's detail that it does not know. A worker without the
-- checker's language could not judge the submission.

create or replace function runledger.suits_worker(language text, requires jsonb, offers text[], capabilities text[]) returns boolean
language sql stable
as $$
  select suits_worker.language = any (suits_worker.offers) and (
    not coalesce(suits_worker.requires ? 'detail', false)
    or coalesce(suits_worker.requires ->> 'checker_language' = any (suits_worker.offers), true)
      and coalesce(suits_worker.requires -> 'demands' <@ to_jsonb(suits_worker.capabilities), true)
  )
$$;
comment on function runledger.suits_worker is 'Whether a worker can run a submission. language, requires: of runledger.pending. offers, capabilities: the languages and the capabilities of the worker.';

create or replace function runledger.start_data(data jsonb, received jsonb, cores integer, attempt integer) returns jsonb
language sql stable
as $$
  select start_data.data || jsonb_build_object('attempt', start_data.attempt) || case
    when start_data.received ? 'limits' or start_data.cores is not null then
      jsonb_build_object(
        'limits',
        -- The worker's limits for the language, by phase, overridden by the submission's own limits.
        start_data.data -> 'limits' || coalesce(
          (
            select jsonb_object_agg(phase, start_data.data -> 'limits' -> phase || own)
            from jsonb_each(start_data.received -> 'limits') asked (phase, own)
            where jsonb_typeof(start_data.data -> 'limits' -> phase) = 'object'
          ),
          '{}'
        )
          -- greatest and least ignore nulls.
          || jsonb_strip_nulls(jsonb_build_object('cores', greatest(
            (start_data.data #>> '{limits,cores}')::numeric,
            case
              when start_data.cores is not null then least(start_data.cores, (start_data.data ->> 'host_cores')::numeric)
            end
          )))
      )
    else '{}'
  end || case
    when start_data.received -> 'demands' ? 'network' then
      jsonb_build_object('isolation', (start_data.data -> 'isolation') || '{"network": "loopback"}')
    else '{}'
  end
$$;
comment on function runledger.start_data is 'Returns the data of execution.started. data: the part that the worker reports of itself and of the program, where limits.cores is a slot''s share; received: as requires in runledger.suits_worker; cores: the tier''s cores for a box, or null; attempt: 1, 2, 3 …';
