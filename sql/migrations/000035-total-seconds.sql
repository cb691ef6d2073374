-- What one submission may run in all: its limits are of each phase, and it may have 200 tests.

alter table runledger.tier add column total_seconds integer not null default 600
  constraint tier_total_seconds check (total_seconds between 1 and 86400);
comment on column runledger.tier.total_seconds is 'What a submission''s compiler, tests and checkers may run in all, in seconds by the clock.';
-- Nobody's single run is cut short by it.
update runledger.tier t
set total_seconds = least(86400, greatest(600, 6 * ceil((t.limits ->> 'wall_seconds')::double precision)))
where (t.limits ->> 'wall_seconds')::double precision > 100;

-- Made again from sql/functions/ with a further column.
alter type runledger.begun_execution add attribute total_seconds integer;
comment on column runledger.begun_execution.total_seconds is 'As its tier has it; null: its key is gone.';
drop function if exists runledger.take_several(
  uuid, text[], integer, jsonb, jsonb, jsonb, text[], timestamptz, text[], boolean, text[]
);
drop function if exists runledger.start_execution(uuid, uuid, integer, jsonb, jsonb, text[], text[], text[]);
