-- One account must not fill the queue for all. It may hold as much as is free, times its weight: alone half of the queue,
-- and with n others that fill it, one part of n + 2. So there is always room for who holds nothing, without a count of
-- accounts, and who holds more than that when others come gets no more until as much of it has ended.

create or replace function runledger.demand_room(submissions integer, capacity integer, account_id uuid, weight integer)
returns void
language plpgsql
as $$
declare
  _pending bigint;
  _asked integer := demand_room.submissions;
begin
  if runledger.has_ample_room(_asked, demand_room.capacity, demand_room.weight) then
    return;
  end if;
  if not runledger.has_room(_asked, demand_room.capacity) then
    raise exception 'the queue is full' using errcode = 'RL003';
  end if;
  _pending := (select last_value from runledger.event_position)
    - nullif(current_setting('runledger.counted_from', true), '')::bigint;
  if _pending + _asked <= demand_room.weight * (demand_room.capacity - _pending) then
    return;
  end if;

  select count(*) into _pending from (select from runledger.pending limit demand_room.capacity) p;
  perform set_config(
    'runledger.counted_from', ((select last_value from runledger.event_position) - _pending)::text, false
  );
  if _pending + _asked <= demand_room.weight * (demand_room.capacity - _pending) then
    return;
  end if;
  if _asked + (
    select count(*) from (
      select from runledger.api_key k
      join runledger.pending p on p.api_key_id = k.id
      where k.account_id = demand_room.account_id
      limit demand_room.capacity
    ) held
  ) > demand_room.weight * (demand_room.capacity - _pending) then
    raise exception 'the account holds its share of the queue' using errcode = 'RL003', detail = 'account';
  end if;
end
$$;
comment on function runledger.demand_room is 'RL003 unless there is room for so many submissions more (has_room), or, with the detail `account`, unless the account then holds no more than is free times its weight, but for those that are being received at this moment.';
