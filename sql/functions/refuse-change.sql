-- Makes the log append-only even for its owner: the grants bind the others, this binds everybody who does not
-- disable triggers on purpose.

create or replace function runledger.refuse_change() returns trigger
language plpgsql set search_path = ''
as $$
begin
  raise exception '% on runledger.%: the log is append only', tg_op, tg_table_name
    using errcode = 'RL001';
end
$$;
comment on function runledger.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE with SQLSTATE RL001.';

create or replace trigger event_append_only
  before update or delete or truncate on runledger.event
  for each statement execute function runledger.refuse_change();
