create or replace view audit.overview as
select runledger.read_overview() as overview;
comment on view audit.overview is 'One row: the whole service as operators see it, as JSON (runledger.read_overview). Never costs more than what is unfinished.';
