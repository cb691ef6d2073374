-- What only processes called that are older than the release before this one, or than the function's present form.

drop function if exists runledger.renew_lease(uuid, text[]);
drop function if exists runledger.renew_lease(uuid, text[], boolean);
drop function if exists runledger.complete_execution(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea);
drop function if exists runledger.complete_execution(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea, text);
drop function if exists runledger.end_execution(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea, text);
drop function if exists runledger.notify_ends(uuid[]);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean,
  boolean
);
drop function if exists runledger.receive_submission(
  uuid, uuid, bytea, bytea, bytea, uuid, text, text, integer, jsonb, jsonb, boolean, integer, uuid, bytea, boolean, boolean,
  boolean, text
);
drop function if exists runledger.receive_batch(uuid, jsonb, text, integer, jsonb, integer, uuid, bytea);
drop function if exists runledger.receive_batch(uuid, jsonb, text, integer, jsonb, integer, uuid, bytea, boolean);

drop function if exists runledger.append_event(uuid, integer, text, integer, jsonb, jsonb);
drop function if exists runledger.register_worker(uuid, text, integer, integer, jsonb, double precision);
drop function if exists runledger.reconcile_queue();
drop function if exists runledger.await_submission(uuid);
drop function if exists runledger.take_execution(uuid, text, integer, jsonb, jsonb, jsonb, text[]);
drop function if exists runledger.take_execution(uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz);
drop function if exists runledger.start_execution(uuid, uuid, integer, jsonb, jsonb);
drop function if exists runledger.interrupt_execution(uuid, integer, integer, jsonb, jsonb, integer);

-- Made again from sql/functions/ with other columns.
drop function if exists runledger.list_language();
drop function if exists runledger.read_load();
drop function if exists runledger.read_progress(xid8, bigint);
drop function if exists runledger.finish_submission(uuid);

-- Made again with parameters of other names.
drop function if exists runledger.take_execution(
  uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz, text[], boolean, text[]
);
drop function if exists runledger.start_execution(uuid, uuid, integer, jsonb, jsonb, text[], text[], text[]);
