create or replace view audit.broken_chain as
select e.position, e.stream_id, e.stream_version, e.type
from runledger.event e
left join runledger.event previous
  on previous.stream_id = e.stream_id and previous.stream_version = e.stream_version - 1
where (e.stream_version > 1 and previous.hash is null)
  or e.hash is distinct from runledger.hash_event(
    previous.hash, e.stream_id, e.stream_version, e.type, e.schema_version, e.data, e.metadata, e.recorded_at
  );
comment on view audit.broken_chain is 'Events that were changed, or whose predecessor was changed or removed, since they were written; empty when nobody did.';
