-- A low submission waits for those that are not.

alter table runledger.pending add column is_low boolean not null default false;
comment on column runledger.pending.is_low is 'It waits until none waits that is not.';
-- In the order in which runledger.admit_waiting takes them.
create index pending_by_rank on runledger.pending (api_key_id, admitted, is_low, submission_id);
drop index runledger.pending_by_key;
