-- Whether nothing needs to be counted, as most of the time.

create or replace function runledger.has_ample_room(submissions integer, capacity integer, weight integer) returns boolean
language plpgsql
as $$
declare
  -- What is unfinished at most, as has_room bounds it.
  _pending bigint := (select last_value from runledger.event_position)
    - nullif(current_setting('runledger.counted_from', true), '')::bigint + has_ample_room.submissions;
begin
  -- The margin is has_room's.
  return coalesce(
    _pending + least(1000, greatest(400, has_ample_room.capacity / 4)) <= has_ample_room.capacity
      and _pending <= has_ample_room.weight * (has_ample_room.capacity - _pending + has_ample_room.submissions),
    false
  );
end
$$;
comment on function runledger.has_ample_room is 'True when so many submissions more are far from the capacity and from the share of an account of this weight (demand_room), so that nothing is to be counted.';
