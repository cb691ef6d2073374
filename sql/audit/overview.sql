create or replace view audit.overview as
select runledger.read_overview() as overview;
comment on view audit.overview is 'One row: the state of the whole service for operators, as JSON (runledger.read_overview). Its cost grows with the unfinished submissions, not with the history.';
