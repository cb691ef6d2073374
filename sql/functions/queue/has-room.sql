-- Whether the queue takes more. A full one takes a few more of each account: no account keeps another out by what it has queued
-- itself. Called by functions that run as the owner.

create or replace function runledger.has_room(submissions integer, capacity integer, account_id uuid default null) returns boolean
language plpgsql
as $$
declare
  -- Submissions being received have a number but are not counted yet. In this margin everybody counts: it holds twenty
  -- batches of twenty.
  _margin integer := least(1000, greatest(400, has_room.capacity / 4));
  _position bigint := (select last_value from runledger.event_position);
  _counted_from bigint := nullif(current_setting('runledger.counted_from', true), '');
  _most integer := has_room.capacity + has_room.capacity / 4;
  _few integer := has_room.capacity / 50;
  _pending integer;
begin
  -- Counting passes every removed row until vacuum. But each submission takes a number of the log: these bound how many
  -- came since this session's last count.
  if _position - _counted_from + has_room.submissions + _margin <= has_room.capacity then
    return true;
  end if;
  if has_room.submissions > 1 then
    -- Batches take turns: at most one submission per connection too many.
    perform pg_advisory_xact_lock(71830, -4);
  end if;
  select count(*) into _pending from (select from runledger.pending limit _most) p;
  perform set_config('runledger.counted_from', (_position - _pending)::text, false);
  if _pending + has_room.submissions <= has_room.capacity then
    return true;
  end if;
  return _pending + has_room.submissions <= _most and has_room.account_id is not null
    and runledger.count_pending(has_room.account_id, _few) + has_room.submissions <= _few;
end
$$;
comment on function runledger.has_room is 'True when so many submissions more are no more than the capacity, but for those that are being received at this moment. Of an account that then has a fiftieth of the capacity at most they may be a quarter more, all such accounts together.';
