-- Who waited without a channel of their own were processes of releases that are long gone.

drop function if exists runledger.tell_end(uuid, boolean, text[]);
alter table runledger.pending drop column awaited;

-- Made again from sql/functions/ with another result.
drop function if exists runledger.finish_submission(uuid);
drop function if exists runledger.end_cancelled(uuid, integer, jsonb, jsonb);
drop function if exists runledger.store_cancel(uuid, uuid, jsonb);
drop function if exists runledger.store_completion(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea, text, bytea);
drop function if exists runledger.store_several(jsonb);
-- Without a default.
drop function if exists runledger.await_submission(uuid, text);
