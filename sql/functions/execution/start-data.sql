-- What execution.started says.

create or replace function runledger.start_data(data jsonb, received jsonb, attempt integer) returns jsonb
language sql immutable
as $$
  select jsonb_build_object('attempt', attempt) || case
    when received ? 'limits' then
      jsonb_set(data, '{limits}', runledger.narrow_limits(data -> 'limits', received -> 'limits'))
    else data
  end
$$;
comment on function runledger.start_data is 'data: what the worker says of itself and of the program; received: the data of submission.received; attempt: 1, 2, 3 …';
