-- Accounts share the slots: a job's place in the queue is a virtual time (job.next_turn), not when it came. Their sequences
-- are made by the reconciler, some at a time: each is locked until its transaction ends.

-- In the order in which jobs are taken: first the job, then what is pending.
lock table graphile_worker._private_jobs in share row exclusive mode;

alter table runledger.tier add column weight integer not null default 1
  constraint tier_weight check (weight between 1 and 1000);
comment on column runledger.tier.weight is 'How many times an account''s share of the slots that of weight 1 is.';

alter table runledger.pending
  add column turn bigint,
  add column charge bigint;
comment on column runledger.pending.turn is 'Its place in the queue, as job.turn_time has it; null before it has one, and of a low one.';
comment on column runledger.pending.charge is 'Ticks of virtual time that its account was charged for it beforehand.';

create sequence runledger.turn as bigint minvalue 0 start 0;
comment on sequence runledger.turn is 'The virtual time: the latest turn that was taken.';

-- A sequence changes outside of transactions: nobody waits for a commit of others, and nothing waits for the disk.
create schema turn;
comment on schema turn is 'What accounts have had of the slots: some sequences each (job.create_clock). A cache: one that is missing begins anew.';

create type job.turn as (
  turn bigint,
  charge bigint,
  debt bigint
);
comment on type job.turn is 'A place in the queue and what was charged for it, in ticks of virtual time; and the account''s debt that it counts in.';

-- What waits keeps its order and goes before what comes.
with waiting as (
  select j.key, row_number() over (order by j.run_at, j.id) - count(*) over () as turn
  from graphile_worker._private_jobs j
  join graphile_worker._private_tasks task on task.id = j.task_id
  where j.priority = 0 and j.run_at <= now() and (task.identifier = 'execute' or task.identifier like 'execute:%')
), moved as (
  update graphile_worker._private_jobs j
  set run_at = timestamptz 'epoch' + waiting.turn * interval '1 microsecond'
  from waiting where waiting.key = j.key
)
update runledger.pending p set turn = waiting.turn, charge = 0 from waiting where waiting.key = p.submission_id::text;

drop function if exists job.rank(uuid, boolean);
drop function if exists job.enqueue_first(uuid, text);
drop function if exists runledger.receive_several(jsonb);
