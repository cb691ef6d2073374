-- The end of an attempt takes away what was told of it, and nothing of the attempt after it.

do $$
declare
  _id constant uuid := gen_random_uuid();
begin
  insert into runledger.watch (submission_id, channel, expires_at) values (_id, 'somebody', now() + interval '1 minute');
  perform runledger.tell_output(jsonb_build_array(jsonb_build_object(
    'submission', _id, 'run', told.run, 'begins', false,
    'pieces', jsonb_build_array(jsonb_build_object('kind', 'stdout', 'start', 0, 'bytes', 'eA=='))
  )))
  from (values ('first'), ('second')) told (run);
  assert (select count(*) from runledger.live_output o where o.submission_id = _id) = 2, 'both were told';
  perform runledger.forget_output(_id, 'first');
  assert (select array_agg(o.run) from runledger.live_output o where o.submission_id = _id) = array['second'],
    'the attempt that goes on is told still';
  perform runledger.forget_output(_id, 'second');
  assert not exists (select from runledger.live_output o where o.submission_id = _id), 'nothing is kept';
end
$$;
