-- Web processes that wait for an end are told of it on channels of their own, record and all.

alter table runledger.pending add column told_to text[];
comment on column runledger.pending.told_to is 'Channels of the processes that wait for the end, where they are told of the record. Their names are secret.';
comment on column runledger.pending.awaited is 'Somebody waits who is told on the channel submission_finished, of the id alone: a process of an earlier release.';
