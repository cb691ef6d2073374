-- Who begins an attempt learns whose submission it is: what a worker keeps of a compilation serves that account alone. The
-- functions are made again, with one more column, from sql/functions/.

drop function if exists runledger.take_execution(uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz, text[]);
drop function if exists runledger.start_execution(uuid, uuid, integer, jsonb, jsonb, text[]);
