-- What execution.started says.

create or replace function runledger.start_data(data jsonb, received jsonb, cores integer, attempt integer) returns jsonb
language sql immutable
as $$
  select start_data.data || jsonb_build_object('attempt', start_data.attempt) || case
    when start_data.received ? 'limits' or start_data.cores is not null then
      jsonb_build_object(
        'limits',
        runledger.narrow_limits(start_data.data -> 'limits', coalesce(start_data.received -> 'limits', '{}'))
          -- greatest and least leave out what is null.
          || jsonb_strip_nulls(jsonb_build_object('cores', greatest(
            (start_data.data #>> '{limits,cores}')::numeric,
            case
              when start_data.cores is not null then least(start_data.cores, (start_data.data ->> 'host_cores')::numeric)
            end
          )))
      )
    else '{}'
  end
$$;
comment on function runledger.start_data is 'data: what the worker says of itself and of the program, limits.cores being a slot''s share; received: the data of submission.received; cores: of a box, as the tier has it, or null; attempt: 1, 2, 3 …';
