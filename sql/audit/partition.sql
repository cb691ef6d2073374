create or replace view audit.partition as
select table_name, name, lower, upper, starts_at, ends_at from runledger.partition;
comment on view audit.partition is 'How the log, the bodies and the outputs are divided, by the times at which their ids were made.';
