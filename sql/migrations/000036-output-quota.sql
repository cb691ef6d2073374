-- What an account's runs leave in a day is bounded by its tier. The function stands in sql/functions/execution/.

alter table runledger.tier add column output_bytes bigint
  constraint tier_output_bytes check (output_bytes > 0);
comment on column runledger.tier.output_bytes is 'The most that is kept in a day of what the runs of an account have written; of what comes after it only the beginning is. Null is unlimited.';
update runledger.tier set output_bytes = 1073741824 where name = 'beta';

create table runledger.kept_output (
  day date not null,
  account_id uuid not null references runledger.account (id),
  bytes bigint not null constraint kept_output_bytes check (bytes >= 0),
  constraint kept_output_pkey primary key (day, account_id)
);
comment on table runledger.kept_output is 'How much was kept of what an account''s runs have written, by days of UTC. Workers tell it every few seconds (runledger.count_output), so that no end of a submission waits for another one of its account; what a worker that is killed has not told is not counted. Days before yesterday are removed.';
