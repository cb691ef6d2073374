-- Asks for the output of submissions while they run. To be repeated: nobody is told for ever.

create or replace function runledger.watch_submissions(submissions uuid[], channel text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _id uuid;
  _is_new boolean;
begin
  -- Whoever asks does so again; a crash empties the table anyhow.
  perform set_config('synchronous_commit', 'off', true);
  -- Workers have dropped what has expired: they must hear of it as if it were new.
  delete from runledger.watch w
  using (
    select old.submission_id, old.channel from runledger.watch old
    where old.expires_at < clock_timestamp()
    for update skip locked
  ) expired
  where w.submission_id = expired.submission_id and w.channel = expired.channel;

  -- All processes lock in the same order.
  for _id in select distinct given.id from unnest(watch_submissions.submissions) given (id) order by given.id loop
    insert into runledger.watch as w (submission_id, channel, expires_at)
    values (_id, watch_submissions.channel, clock_timestamp() + interval '60 seconds')
    on conflict on constraint watch_pkey do update set expires_at = excluded.expires_at
    returning xmax = 0 into _is_new;
    if _is_new then
      perform pg_notify('runledger_watch', _id::text);
    end if;
    perform runledger.await_submission(_id, watch_submissions.channel);
  end loop;
end
$$;
comment on function runledger.watch_submissions is 'For the next minute, workers tell the output of these submissions as it is written (tell_output), and `channel` is sent the id of each of which there is more. It is also told of their ends, as by await_submission.';
