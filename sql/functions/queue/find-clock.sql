-- Where an account's clock stands. PostgreSQL puts only this into the caller's statement.

create or replace function job.find_clock(account_id uuid, part text default '') returns regclass
language sql stable
as $$
  select to_regclass('turn."' || find_clock.account_id || find_clock.part || '"')
$$;
comment on function job.find_clock is 'One of the sequences of job.create_clock; null when it is missing.';
