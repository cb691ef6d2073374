create or replace view audit.broken_chain as
select position, stream_id, stream_version, type, recorded_at
from (
  select
    e.*,
    lag(e.stream_version, 1, 0) over stream as previous_version,
    lag(e.hash) over stream as previous_hash
  from runledger.event e
  window stream as (partition by e.stream_id order by e.stream_version)
) chained
where stream_version <> previous_version + 1
  or hash is distinct from runledger.hash_event(
    previous_hash, stream_id, stream_version, type, schema_version, data, metadata, recorded_at
  );
comment on view audit.broken_chain is 'Events that were changed after they were written, or whose predecessor was changed or removed. Empty when nobody did either. A condition on stream_id limits how much of the log is read.';
