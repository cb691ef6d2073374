-- Whether the queue takes more. Called by functions that are the owner's already.

create or replace function runledger.has_room(submissions integer, capacity integer) returns boolean
language plpgsql
as $$
declare
  -- Who is being received while another counts has his number already and is not counted yet. So near the end all count:
  -- that many are twenty batches of twenty at least.
  _margin integer := least(1000, greatest(400, has_room.capacity / 4));
  _position bigint := (select last_value from runledger.event_position);
  _counted_from bigint := nullif(current_setting('runledger.counted_from', true), '');
  _pending integer;
begin
  -- To count is to pass by every row that has gone until somebody vacuums. But every submission takes a number in the log as
  -- it comes: since this session has counted, there cannot be more of them than numbers.
  if _position - _counted_from + has_room.submissions + _margin <= has_room.capacity then
    return true;
  end if;
  if has_room.submissions > 1 then
    -- One batch after another, each when the one before it can be counted: at most one submission a connection too many.
    perform pg_advisory_xact_lock(71830, -4);
  end if;
  select count(*) into _pending from (select from runledger.pending limit has_room.capacity) p;
  perform set_config('runledger.counted_from', (_position - _pending)::text, false);
  return _pending + has_room.submissions <= has_room.capacity;
end
$$;
comment on function runledger.has_room is 'True when so many submissions more are no more than the capacity, but for those that are being received at this moment.';
