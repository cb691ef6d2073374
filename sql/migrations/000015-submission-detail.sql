-- What a submission asks beside code and input, what is told of its end beside its outputs, and what a tier allows it. The
-- functions that take or return more are made again from sql/functions/.

alter table runledger.body add column detail bytea;
comment on column runledger.body.detail is 'What was asked beside code and input, as JSON: arguments, files, limits. Null: nothing.';
alter table runledger.body add column report bytea;
comment on column runledger.body.report is 'What is told of the end beside the outputs, as JSON. Null: nothing.';

alter table runledger.result add column tag text;
comment on column runledger.result.tag is 'The caller''s own word for it.';
alter table runledger.result add column output_encoding text;
comment on column runledger.result.output_encoding is 'How outputs are told: null is as text, else base64.';
alter table runledger.result add column exceeded text;
comment on column runledger.result.exceeded is 'The limit that ended the run: cpu_time, wall_time, memory, stdout, stderr.';
alter table runledger.result add column compile jsonb;
comment on column runledger.result.compile is 'How the compiler ended and what it used, as execution.completed says it; null without one.';
create index result_by_tag on runledger.result (account_id, tag, id desc) where tag is not null;

alter table runledger.tier add column limits jsonb not null default '{
  "cpu_seconds": 15, "wall_seconds": 30, "memory_bytes": 1073741824, "processes": 256,
  "stdout_bytes": 2097152, "stderr_bytes": 1048576, "disk_bytes": 268435456
}' constraint tier_limits check (jsonb_typeof(limits) = 'object');
comment on column runledger.tier.limits is 'The most that a submission''s own limits may be, for the run and for the compiler; a language''s default is always allowed.';
update runledger.tier set limits = '{
  "cpu_seconds": 300, "wall_seconds": 600, "memory_bytes": 4294967296, "processes": 1024,
  "stdout_bytes": 16777216, "stderr_bytes": 16777216, "disk_bytes": 1073741824
}' where name = 'unlimited';

drop function if exists runledger.admit_request(bytea);
drop function if exists runledger.receive_submission(jsonb, bytea, bytea, bytea);
drop function if exists runledger.take_execution(uuid, text, integer, jsonb, jsonb, jsonb, text[], timestamptz, text[]);
drop function if exists runledger.start_execution(uuid, uuid, integer, jsonb, jsonb, text[]);
drop procedure if exists runledger.conclude_execution(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea, text);
drop function if exists runledger.store_completion(uuid, integer, integer, jsonb, jsonb, bytea, bytea, bytea, text);
drop function if exists runledger.read_result(uuid, uuid);
drop function if exists runledger.define_tier(text, integer, integer, integer, jsonb, jsonb);
