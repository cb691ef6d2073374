create or replace view audit.drift as
(select 'cached' as side, * from (select * from runledger.result except select * from runledger.result_from_log) cached)
union all
(select 'in the log' as side, * from (select * from runledger.result_from_log except select * from runledger.result) derived);
comment on view audit.drift is 'Where the cached results differ from the log; empty when all is well.';
