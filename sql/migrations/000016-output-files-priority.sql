-- Workers say what they can do of what a submission demands. The functions that take more are made again from
-- sql/functions/.

drop function if exists runledger.take_execution(
  uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz, text[], boolean
);
drop function if exists runledger.start_execution(uuid, uuid, integer, jsonb, jsonb, text[], text[]);
