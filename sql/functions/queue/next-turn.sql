-- Start-time fair queueing: a program starts when the account's programs before it have had their time, or, if that is past,
-- now; both in virtual time, which passes as the account that has had least goes on. So who has waited for nothing is
-- next, and who has queued much comes between the others.

create or replace function job.next_turn(account_id uuid, weight integer) returns job.turn
language plpgsql
as $$
declare
  -- Null when it is missing: then all of this is now, until the reconciler has made it.
  _clock regclass := job.find_clock(next_turn.account_id);
  _credit regclass := job.find_clock(next_turn.account_id, ' credit');
  _cost regclass := job.find_clock(next_turn.account_id, ' cost');
  _now bigint := coalesce(pg_sequence_last_value('runledger.turn'), 0);
  _is_held boolean := pg_try_advisory_lock(71832, _clock::oid::integer) or job.hold_clock(_clock);
  _owed bigint := coalesce(pg_sequence_last_value(_credit), 0);
  _paid bigint := 0;
  _done bigint;
  _next job.turn;
begin
  _next.charge := greatest(1, job.share_ticks(coalesce(pg_sequence_last_value(_cost), 50000), next_turn.weight));
  _next.turn := greatest(_now, pg_sequence_last_value(_clock));
  if _owed > 0 then
    -- What it was charged too much is past as time is. And it pays for half of a program at most, or others would wait for all
    -- that is paid for.
    _owed := least(_owed, _next.turn - _now);
    _paid := least(_owed, _next.charge / 2);
    _done := setval(_credit, _owed - _paid);
  end if;
  _done := setval(_clock, _next.turn + _next.charge - _paid);
  _next.debt := job.read_debt(next_turn.account_id);
  if _is_held then
    _is_held := not pg_advisory_unlock(71832, _clock::oid::integer);
  end if;
  return _next;
end
$$;
comment on function job.next_turn is 'A turn for one more program of the account, and the ticks that it is charged for beforehand: what its programs take of late. job.settle_turn corrects it by what this one takes.';
