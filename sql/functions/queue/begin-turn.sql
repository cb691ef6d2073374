-- Whoever has not waited starts where the others are.

create or replace function job.begin_turn(run_at timestamptz) returns timestamptz
language plpgsql
as $$
declare
  _turn bigint := job.read_turn(begin_turn.run_at);
begin
  if _turn is null then
    return null;
  end if;
  -- Never back: jobs of a language that few workers run are behind.
  if _turn > coalesce(pg_sequence_last_value('runledger.turn'), 0) then
    _turn := setval('runledger.turn', _turn);
  end if;
  return begin_turn.run_at;
end
$$;
comment on function job.begin_turn is 'The job of this run_at is taken: the virtual time is its turn, unless it is later already. Returns run_at, or null for a real time.';
