-- What an ended program took more than was charged, lets the account's others come later, also those that wait
-- (job.defer_turn). What it took less pays for those to come: places that were given never come earlier, so that no program
-- overtakes another of its account. Only after the last there is none yet.

create or replace function job.settle_turn(
  account_id uuid, weight integer, turn bigint, charge bigint, seconds double precision
) returns void
language plpgsql
as $$
declare
  _clock regclass := job.find_clock(settle_turn.account_id);
  _credit regclass := job.find_clock(settle_turn.account_id, ' credit');
  _cost regclass := job.find_clock(settle_turn.account_id, ' cost');
  -- A clock may be set anew meanwhile.
  _ticks bigint :=
    case when settle_turn.seconds < 0 then 0 when settle_turn.seconds > 600 then 600 else settle_turn.seconds end * 50000;
  _more bigint := greatest(1, job.share_ticks(coalesce(_ticks, 0), settle_turn.weight)) - settle_turn.charge;
  _debt regclass := job.find_clock(settle_turn.account_id, ' debt');
  _step bigint;
  _before bigint;
  _owed bigint := coalesce(pg_sequence_last_value(_credit), 0);
  _paid bigint;
  _end bigint := settle_turn.turn + settle_turn.charge;
  _is_free boolean := false;
  _is_held boolean;
  _done bigint;
begin
  if settle_turn.charge is null then
    return;
  end if;
  if _owed > 0 and _more < 0 and pg_sequence_last_value(_clock) = _end then
    _is_free := not exists (
      select from runledger.api_key k
      join runledger.pending p on p.api_key_id = k.id
      join runledger.result r on r.id = p.submission_id
      where k.account_id = settle_turn.account_id and p.turn is not null and r.status = 'queued'
    );
  end if;
  _is_held := pg_try_advisory_lock(71832, _clock::oid::integer) or job.hold_clock(_clock);
  if _ticks is not null then
    -- Of the mean, the last eight programs make two thirds.
    _done := setval(_cost, (7 * coalesce(pg_sequence_last_value(_cost), 50000) + _ticks + 4) / 8);
  end if;
  _owed := coalesce(pg_sequence_last_value(_credit), 0);
  if _more > 0 then
    _paid := least(_owed, _more);
    _more := _more - _paid;
    if pg_sequence_last_value(_clock) = _end then
      _done := setval(_clock, _end + _more);
    else
      _step := job.debt_step();
      _before := coalesce(pg_sequence_last_value(_debt), 0);
      _done := setval(_debt, _before + _more);
      -- Who comes now is to stay behind all that is moved.
      _done := setval(_clock, pg_sequence_last_value(_clock) + _step * ((_before + _more) / _step - _before / _step));
    end if;
  elsif pg_sequence_last_value(_clock) = _end then
    _paid := case when _is_free then _owed else 0 end;
    _done := setval(_clock, greatest(0, _end + _more - _paid));
  else
    _paid := _more;
  end if;
  if _paid <> 0 then
    _done := setval(_credit, _owed - _paid);
  end if;
  if _is_held then
    _is_held := not pg_advisory_unlock(71832, _clock::oid::integer);
  end if;
end
$$;
comment on function job.settle_turn is 'Notes what an ended submission, pending no more, took of a slot. seconds: ten minutes at most count; null when it never ran; turn and charge: as job.next_turn gave them, null when it had none.';
