-- What an ended program took more than was charged, lets the account's later ones come later. What it took less, lets them be
-- charged less: places that were given stay, so that no program overtakes another of its account.

create or replace function job.settle_turn(
  account_id uuid, weight integer, turn bigint, charge bigint, seconds double precision
) returns void
language plpgsql
as $$
declare
  _clock regclass := to_regclass('turn."' || settle_turn.account_id || '"');
  _credit regclass := to_regclass('turn."' || settle_turn.account_id || ' credit"');
  _cost regclass := to_regclass('turn."' || settle_turn.account_id || ' cost"');
  _ticks bigint := settle_turn.seconds * 50000;
  _more bigint := greatest(1, job.share_ticks(coalesce(_ticks, 0), settle_turn.weight)) - settle_turn.charge;
  _is_held boolean;
  _done bigint;
begin
  if settle_turn.charge is null then
    return;
  end if;
  _is_held := pg_try_advisory_lock(71832, _clock::oid::integer) or job.hold_clock(_clock);
  if _ticks is not null then
    -- Of the mean, the last eight programs make two thirds.
    _done := setval(_cost, (7 * coalesce(pg_sequence_last_value(_cost), 50000) + _ticks + 4) / 8);
  end if;
  -- After the last of the account there is no place yet.
  if _more > 0 or pg_sequence_last_value(_clock) = settle_turn.turn + settle_turn.charge then
    _done := setval(_clock, greatest(0, pg_sequence_last_value(_clock) + _more));
  elsif _more < 0 then
    _done := setval(_credit, coalesce(pg_sequence_last_value(_credit), 0) - _more);
  end if;
  if _is_held then
    _is_held := not pg_advisory_unlock(71832, _clock::oid::integer);
  end if;
end
$$;
comment on function job.settle_turn is 'Notes what an ended submission took of a slot. seconds: null when it never ran; turn and charge: as job.next_turn gave them, null when it had none.';
