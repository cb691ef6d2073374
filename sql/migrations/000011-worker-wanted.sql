-- What an operator wants of a worker stands in its row: it holds whatever becomes of connections meanwhile.

alter table runledger.worker
  add column wanted text not null default 'working'
    constraint worker_wanted check (wanted in ('working', 'paused', 'drained'));
comment on column runledger.worker.wanted is 'What operators want of it: working; paused, it takes nothing; drained, it takes nothing and ends when it has finished what it has. Changed by runledger.order_worker alone.';
