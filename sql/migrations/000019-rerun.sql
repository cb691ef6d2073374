-- A submission again, on today's toolchain: which one it repeats, and in which campaign of an operator's.

alter table runledger.result add column rerun_of uuid;
comment on column runledger.result.rerun_of is 'The first submission of which this is a rerun; null: it is none.';

-- Small and apart from the log, so that no index is built over that.
create table runledger.rerun (
  submission_id uuid primary key,
  rerun_of uuid not null,
  campaign text
);
comment on table runledger.rerun is 'Submissions that repeat another one. A cache of the view runledger.rerun_from_log, which defines it.';
comment on column runledger.rerun.rerun_of is 'The first submission: a rerun of a rerun names it, too.';
comment on column runledger.rerun.campaign is 'The name under which an operator repeated many; null: its caller asked for it.';
create unique index rerun_once_a_campaign on runledger.rerun (campaign, rerun_of) where campaign is not null;
comment on index runledger.rerun_once_a_campaign is 'A campaign repeats a submission once, however often it is begun.';
create index rerun_by_original on runledger.rerun (rerun_of);

-- Made again from sql/functions/ with a column more.
drop function if exists runledger.read_result(uuid, uuid);
