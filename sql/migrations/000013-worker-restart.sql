-- A worker may also be told to begin again in place: it looks for languages and tries them as at its first start.

alter table runledger.worker
  drop constraint worker_wanted,
  add constraint worker_wanted check (wanted in ('working', 'paused', 'drained', 'restarted'));
comment on column runledger.worker.wanted is 'What operators want of it: working; paused, it takes nothing; drained, it takes nothing and ends when it has finished what it has; restarted, the same and then it begins again under another id. Changed by runledger.order_worker alone.';
