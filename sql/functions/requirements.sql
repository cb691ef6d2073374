-- What an attempt is started with: what a submission asks, held against what a worker has.

-- A worker of a release before would leave out half of what a submission's detail asks, and one without its checker's language
-- could not judge it.

create or replace function runledger.suits_worker(received jsonb, programs jsonb, does text[]) returns boolean
language sql stable
as $$
  select not coalesce(
    received ? 'detail' and (
      not programs ? (received ->> 'checker_language') or not received -> 'demands' <@ to_jsonb(does)
    ),
    false
  )
$$;
comment on function runledger.suits_worker is 'Whether a worker can do what a submission asks, by the data of its submission.received, or null where that asks nothing (runledger.read_requirements). programs: what it runs, by language, or a list of the languages. does: what it can do of what submissions demand.';

create or replace function runledger.start_data(data jsonb, received jsonb, cores integer, attempt integer) returns jsonb
language sql stable
as $$
  select start_data.data || jsonb_build_object('attempt', start_data.attempt) || case
    when start_data.received ? 'limits' or start_data.cores is not null then
      jsonb_build_object(
        'limits',
        -- The worker's for the language, by phase, with the submission's own in their place.
        start_data.data -> 'limits' || coalesce(
          (
            select jsonb_object_agg(phase, start_data.data -> 'limits' -> phase || own)
            from jsonb_each(start_data.received -> 'limits') asked (phase, own)
            where jsonb_typeof(start_data.data -> 'limits' -> phase) = 'object'
          ),
          '{}'
        )
          -- greatest and least leave out what is null.
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
comment on function runledger.start_data is 'data: what the worker says of itself and of the program, limits.cores being a slot''s share; received: as runledger.suits_worker has it; cores: of a box, as the tier has it, or null; attempt: 1, 2, 3 …';
