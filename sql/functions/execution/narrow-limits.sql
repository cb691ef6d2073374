-- The limits of an attempt: a worker's for the language, with a submission's own in their place.

create or replace function runledger.narrow_limits(usual jsonb, own jsonb) returns jsonb
language sql immutable
as $$
  select usual || coalesce(
    (
      select jsonb_object_agg(phase, usual -> phase || limits)
      from jsonb_each(own) own (phase, limits)
      where jsonb_typeof(usual -> phase) = 'object'
    ),
    '{}'
  )
$$;
comment on function runledger.narrow_limits is 'usual: what execution.started says of limits, by phase; own: what submission.received says of some of them.';
