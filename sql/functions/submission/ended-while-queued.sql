-- An attempt that was interrupted took a slot, but what waited for the next one took none.

create or replace function runledger.ended_while_queued(submission_id uuid, status text) returns boolean
language plpgsql stable
as $$
begin
  return ended_while_queued.status = 'cancelled' and (
    select e.type = 'execution.interrupted' from runledger.event e
    where e.stream_id = ended_while_queued.submission_id and e.type in ('execution.started', 'execution.interrupted')
    order by e.stream_version desc limit 1
  );
end
$$;
comment on function runledger.ended_while_queued is 'True for one that was cancelled while it waited for another attempt; null when it never began.';
