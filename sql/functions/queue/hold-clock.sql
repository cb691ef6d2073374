-- Reading a sequence and setting it are two steps. Whoever holds the lock is done within microseconds, in the same function,
-- unless its process has to wait for a core. Nobody waits for it for ever: two that do not hold it count one program
-- instead of two at worst.

create or replace function job.hold_clock(clock regclass) returns boolean
language plpgsql
as $$
begin
  for _try in 1..25 loop
    if hold_clock.clock is null or pg_try_advisory_lock(71832, hold_clock.clock::oid::integer) then
      return hold_clock.clock is not null;
    end if;
    if _try > 20 then
      perform pg_sleep(0.001);
    end if;
  end loop;
  return false;
end
$$;
comment on function job.hold_clock is 'Takes an account''s clock for the caller, who gives it back by pg_advisory_unlock(71832, …); false: it is missing, or another holds it for long.';
