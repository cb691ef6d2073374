-- What a submission is charged for, by its last attempt, when no worker tells it: what the log's times say. They count the way
-- into the log as well.

create or replace function job.measure_slot(submission_id uuid) returns double precision
language plpgsql stable
as $$
declare
  _seconds double precision;
  _is_cancelled boolean;
begin
  select extract(epoch from r.finished_at - r.started_at), r.status = 'cancelled'
  into _seconds, _is_cancelled
  from runledger.result r
  where r.id = measure_slot.submission_id;
  -- What was cancelled while it waited for another attempt took none meanwhile.
  if _is_cancelled and (
    select e.type = 'execution.interrupted' from runledger.event e
    where e.stream_id = measure_slot.submission_id and e.type in ('execution.started', 'execution.interrupted')
    order by e.stream_version desc limit 1
  ) then
    return null;
  end if;
  return _seconds;
end
$$;
comment on function job.measure_slot is 'Seconds of a slot that an ended submission took, and the way of its end into the log; negative when the clock was set back; null when it never ran, or was not running when it was cancelled.';
