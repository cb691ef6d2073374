-- What the reconciler has found of late in the log and the tables that are made from it: for metrics, which every web process
-- shows and one process at a time brings up to date.

create table runledger.ledger_check (
  single boolean primary key default true constraint ledger_check_single check (single),
  checked_at timestamptz,
  drift bigint not null default 0,
  broken_chain bigint not null default 0,
  invariant bigint not null default 0,
  suspects uuid[] not null default '{}',
  walked_up_to uuid not null default '00000000-0000-0000-0000-000000000000',
  walked_at timestamptz
);
comment on table runledger.ledger_check is 'The one row in which runledger.check_ledger keeps what it found and how far it has come.';
comment on column runledger.ledger_check.checked_at is 'When it last looked; null before the first time.';
comment on column runledger.ledger_check.drift is 'Rows that audit.drift has of the streams that were looked at; broken_chain and invariant likewise.';
comment on column runledger.ledger_check.suspects is 'Where something was found: looked at every time, until nothing is found there any more.';
comment on column runledger.ledger_check.walked_up_to is 'The walk through the whole log has come to this id.';
comment on column runledger.ledger_check.walked_at is 'When a walk last came to the end of the log; null before the first time.';
insert into runledger.ledger_check default values;
