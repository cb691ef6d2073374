-- A job that is made anew keeps its place, and is not charged for twice.

create or replace function job.find_turn(submission_id uuid) returns bigint
language plpgsql
as $$
declare
  _pending record;
  _turn job.turn;
begin
  select p.turn, p.is_low, k.account_id, tier.weight into _pending
  from runledger.pending p
  join runledger.api_key k on k.id = p.api_key_id
  join runledger.tier on tier.name = k.tier
  where p.submission_id = find_turn.submission_id;
  if not found or _pending.turn is not null or _pending.is_low then
    return _pending.turn;
  end if;
  _turn := job.next_turn(_pending.account_id, _pending.weight);
  update runledger.pending p set turn = _turn.turn, charge = _turn.charge
  where p.submission_id = find_turn.submission_id;
  return _turn.turn;
end
$$;
comment on function job.find_turn is 'The turn of an unfinished submission; it gets one if it has none. Null: it is low, or has ended.';
