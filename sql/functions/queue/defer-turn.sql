-- Places are given when programs are queued, at the price of those before them. What these took more by now moves the others
-- when they are come to, one at a time: nobody ever looks through all that an account has queued.

create or replace function job.defer_turn(submission_id uuid, language text, account_id uuid, debt bigint) returns void
language plpgsql
as $$
declare
  _debt bigint := job.read_debt(defer_turn.account_id);
  _turn bigint;
begin
  update runledger.pending p
  set turn = p.turn + (_debt - defer_turn.debt) * job.debt_step()
  where p.submission_id = defer_turn.submission_id
  returning p.turn into _turn;
  -- Else it has ended.
  if found then
    perform job.enqueue_first(
      defer_turn.submission_id, defer_turn.language, false, _turn, defer_turn.account_id, _debt
    );
  end if;
end
$$;
comment on function job.defer_turn is 'Enqueues a submission, whose job was just taken from the queue, again: as much later as its account has come into debt since it got its turn.';
