create or replace view audit.rerun as
select
  x.rerun_of as submission_id,
  x.submission_id as rerun_id,
  repeated.created_at as at,
  x.campaign,
  account.name as account,
  repeated.language,
  repeated.tag,
  original.runtime as runtime_before,
  repeated.runtime as runtime_after,
  original.verdict as verdict_before,
  repeated.verdict as verdict_after,
  original.verdict <> repeated.verdict as changed,
  repeated.status
from runledger.rerun x
join runledger.submission repeated on repeated.id = x.submission_id
left join runledger.result original on original.id = x.rerun_of
left join runledger.account on account.id = repeated.account_id;
comment on view audit.rerun is 'One row a rerun, beside the submission that it repeats: what ran then and now, and how both ended.';
comment on column audit.rerun.submission_id is 'The first submission; also of a rerun''s rerun.';
comment on column audit.rerun.rerun_id is 'The submission that repeats it.';
comment on column audit.rerun.at is 'When it was repeated.';
comment on column audit.rerun.campaign is 'The name under which an operator repeated many; null: its caller asked for it.';
comment on column audit.rerun.account is 'Whose both are.';
comment on column audit.rerun.language is 'The language of both.';
comment on column audit.rerun.tag is 'The caller''s own word for it, the same for both.';
comment on column audit.rerun.runtime_before is 'The exact version that ran the first; null: it never ran.';
comment on column audit.rerun.runtime_after is 'The exact version that ran the rerun; null: it has not begun.';
comment on column audit.rerun.verdict_before is 'The first one''s verdict.';
comment on column audit.rerun.verdict_after is 'The rerun''s verdict; null until it has one.';
comment on column audit.rerun.changed is 'Whether the verdicts differ; null until both have one, and for what was cancelled.';
comment on column audit.rerun.status is 'Where the rerun stands: queued, running, completed, failed, cancelled.';
