-- The three schemas and the roles that may use them. Roles carry no password and cannot log in: an operator grants
-- them to login roles of their own (sql/README.md). Where the migrating role may not create roles (one-role platform
-- databases), there are none, and the grants that name them are skipped.

-- The schema runledger itself exists: the record of applied migrations stands in it.
comment on schema runledger is 'Tables and functions of the service. The log is runledger.event; all else can be rebuilt from it or holds bodies.';

create schema job;
comment on schema job is 'Wrappers that put jobs into the queue, in the caller''s transaction.';

create schema audit;
comment on schema audit is 'Views for auditors: read these, change nothing.';

do $$
declare
  _role text;
begin
  foreach _role in array array['runledger_owner', 'runledger_queue', 'runledger_api', 'runledger_worker', 'runledger_auditor'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = _role) then
      begin
        execute format('create role %I nologin', _role);
      exception
        when insufficient_privilege then
          raise notice 'role % not made: this database role may not create roles', _role;
        when duplicate_object or unique_violation then
          null; -- another database of this cluster made it in the same moment
      end;
    end if;
  end loop;
end
$$;
