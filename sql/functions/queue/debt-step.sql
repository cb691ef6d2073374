-- In steps, as places move by whole ones alone: whatever an account has queued keeps its order then.

create or replace function job.debt_step() returns bigint
language sql immutable
as $$
  select 100000::bigint
$$;
comment on function job.debt_step is 'By so many ticks an account''s places move at once: two seconds of a slot at weight 1.';
