-- What an account's programs took more than they were charged.

create or replace function job.read_debt(account_id uuid) returns bigint
language sql volatile
as $$
  select coalesce(pg_sequence_last_value(job.find_clock(read_debt.account_id, ' debt')), 0) / job.debt_step()
$$;
comment on function job.read_debt is 'The debt of an account, ever, in whole steps (job.debt_step).';
