-- Whoever has not waited starts where the others are.

create or replace function job.begin_turn(turn bigint) returns void
language plpgsql
as $$
declare
  _done bigint;
begin
  -- Never back: jobs of a language that few workers run are behind.
  if begin_turn.turn > coalesce(pg_sequence_last_value('runledger.turn'), 0) then
    _done := setval('runledger.turn', begin_turn.turn);
  end if;
end
$$;
comment on function job.begin_turn is 'A job of this turn is taken: that is the virtual time, unless it is later already.';
