-- Output that is told while its program runs: who asks for it, and what was told. Neither is part of the ledger: the record
-- of the end has it all. A crash empties both tables; watchers ask again, and workers tell again what is missing.

create unlogged table runledger.watch (
  submission_id uuid not null,
  channel text not null,
  expires_at timestamptz not null,
  primary key (submission_id, channel)
);
comment on table runledger.watch is 'Submissions whose output web processes want told while it is written. Unlogged: a crash empties it.';
comment on column runledger.watch.channel is 'Where the process hears that there is more. Its name is secret.';
create index watch_by_expiry on runledger.watch (expires_at);

create unlogged table runledger.live_output (
  submission_id uuid not null,
  run text not null,
  kind text not null constraint live_output_kind check (kind in ('compile', 'stdout', 'stderr', 'test')),
  start bigint not null,
  bytes bytea not null,
  primary key (submission_id, run, kind, start)
);
-- Compressing what is read once costs more than it saves.
alter table runledger.live_output alter column bytes set storage external;
comment on table runledger.live_output is 'What runs have written so far that somebody watches, and their tests that have ended. Gone when the submission has ended, as its body has it then. Unlogged: a crash empties it.';
comment on column runledger.live_output.run is 'The attempt, as execution.started names it.';
comment on column runledger.live_output.start is 'Of stdout and stderr: the bytes before these. Of tests: the index. There is no gap.';
comment on column runledger.live_output.bytes is 'Of tests: JSON, without outputs.';
