create or replace view audit.event as
select position, stream_id, stream_version, type, schema_version, recorded_at, data, metadata, encode(hash, 'hex') as hash,
  transaction_id
from runledger.event;
comment on view audit.event is 'The log itself. Filter by stream_id and order by stream_version to read the events of one submission.';
