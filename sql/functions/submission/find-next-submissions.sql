-- Steps through the log's submissions.

create or replace function runledger.find_next_submissions(after uuid, batch integer, out last uuid, out submissions integer)
language sql
as $$
  select (array_agg(id order by id desc))[1], count(*)::integer
  from (
    select e.stream_id as id from runledger.event e
    where e.type = 'submission.received' and e.stream_id > find_next_submissions.after
    order by e.stream_id limit find_next_submissions.batch
  ) received
$$;
comment on function runledger.find_next_submissions is 'The last of the next so many submissions after the given id, as the log has them, and how many there are; null and 0 when there is none. Called by functions that run as the owner.';
