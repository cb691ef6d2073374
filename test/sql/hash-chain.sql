-- audit.broken_chain shows a changed event, even one that was changed while the triggers were off.

select runledger.append_event('00000000-0000-7000-8000-000000000001', 1, 'submission.received', 1, '{"account": "a"}', '{}');
select runledger.append_event('00000000-0000-7000-8000-000000000001', 2, 'execution.started', 1, '{}', '{}');
select runledger.append_event('00000000-0000-7000-8000-000000000001', 3, 'execution.completed', 1, '{"verdict": "RE"}', '{}');

do $$
begin
  assert not exists (select from audit.broken_chain), 'an untouched log has no broken chain';
end
$$;

-- A superuser can disable triggers, also those of a partition.
alter table runledger.event disable trigger event_append_only;
alter table runledger.event_default disable trigger event_append_only;
update runledger.event set data = '{"verdict": "AC"}' where stream_version = 3;

do $$
begin
  assert (select array_agg(stream_version) from audit.broken_chain) = array[3], 'the changed event is named';
end
$$;

update runledger.event set data = '{"verdict": "RE"}' where stream_version = 3;
delete from runledger.event where stream_version = 2;

do $$
begin
  assert (select array_agg(stream_version) from audit.broken_chain) = array[3], 'the removed event''s successor is named';
  assert exists (select from audit.invariant where broken = 'a stream has a gap'), 'the gap is an invariant broken';
end
$$;
