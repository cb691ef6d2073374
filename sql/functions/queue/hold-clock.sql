-- Reading a sequence and setting it are two steps. Whoever holds the lock is done within microseconds, in the same function.
-- Nobody waits on it for ever: two that do not hold it may at worst count one program instead of two.

create or replace function job.hold_clock(clock regclass) returns boolean
language plpgsql
as $$
begin
  for _ in 1..200 loop
    if pg_try_advisory_lock(71832, hold_clock.clock::oid::integer) then
      return true;
    end if;
  end loop;
  return false;
end
$$;
comment on function job.hold_clock is 'Takes an account''s clock for the caller, who gives it back by pg_advisory_unlock(71832, …); false: another holds it.';
