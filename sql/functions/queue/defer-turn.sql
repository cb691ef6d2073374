-- Places are given when programs are queued, at the price of those before them. What these took more by now moves the others
-- when they are come to, one at a time: nobody ever looks through all that an account has queued.

create or replace function job.defer_turn(place job.place) returns void
language plpgsql
as $$
declare
  _place job.place := defer_turn.place;
begin
  _place.debt := job.read_debt(_place.account_id);
  update runledger.pending p
  set turn = p.turn + (_place.debt - (defer_turn.place).debt) * job.debt_step()
  where p.submission_id = _place.submission_id
  returning p.turn into _place.turn;
  -- Else it has ended.
  if found then
    perform job.enqueue_first(array[_place]);
  end if;
end
$$;
comment on function job.defer_turn is 'Enqueues a submission, whose job was just taken from the queue, again: as much later as its account has come into debt since it got its turn.';
