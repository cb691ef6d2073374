-- Live output is kept in the order of its numbers, without a gap. The end of an attempt removes only that attempt's output.

do $$
declare
  _id constant uuid := gen_random_uuid();
begin
  create function pg_temp.publish(submission uuid, run text, variadic seqs integer[]) returns integer language sql as $f$
    select published.next_seq
    from runledger.publish_output(jsonb_build_array(jsonb_build_object(
      'submission', submission, 'run', run,
      'events', (
        select coalesce(jsonb_agg(jsonb_build_object('seq', s, 'id', s, 'event', 'stdout', 'data', '{}')), '[]')
        from unnest(seqs) s
      )
    ))) published
  $f$;
  assert pg_temp.publish(_id, 'first', 1) is null, 'nothing is kept that nobody watches';
  assert not exists (select from runledger.live_output o where o.submission_id = _id), 'nothing is kept';

  insert into runledger.watch (submission_id, channel, expires_at) values (_id, 'somebody', now() + interval '1 minute');
  assert pg_temp.publish(_id, 'first', variadic '{}') = 1, 'nothing was published yet';
  assert pg_temp.publish(_id, 'first', 1, 2) = 3, 'both were published';
  assert pg_temp.publish(_id, 'first', 1, 2) = 3, 'what is there already is not published again';
  assert pg_temp.publish(_id, 'first', 4) = 3, 'there is no gap';
  assert (select array_agg(o.seq order by o.seq) from runledger.live_output o where o.submission_id = _id) = array[1, 2],
    'each once';

  assert pg_temp.publish(_id, 'second', 1) = 2, 'the next attempt begins anew';
  assert (select array_agg(o.run) from runledger.live_output o where o.submission_id = _id) = array['second'],
    'of the one before nothing is kept';
  perform runledger.forget_output(_id, 'first');
  assert (select array_agg(o.run) from runledger.live_output o where o.submission_id = _id) = array['second'],
    'the attempt that goes on is kept';
  perform runledger.forget_output(_id, 'second');
  assert not exists (select from runledger.live_output o where o.submission_id = _id), 'nothing is kept';
end
$$;
