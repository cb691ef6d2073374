-- Which attempts must end. Anybody may notify anything, so workers ask.

create or replace function runledger.find_cancelled(submissions uuid[]) returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select asked.id
  from unnest(find_cancelled.submissions) asked (id)
  cross join lateral (
    select e.type from runledger.event e where e.stream_id = asked.id order by e.stream_version desc limit 1
  ) head
  where head.type = 'submission.cancel_requested'
$$;
comment on function runledger.find_cancelled is 'Those of these submissions whose attempt is to be ended, as their caller has cancelled them.';
