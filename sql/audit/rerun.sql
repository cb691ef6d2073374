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
  repeated.status,
  case
    when repeated.status in ('queued', 'running', 'cancelled') or original.status = 'cancelled' then null
    when received.data ->> 'expected_stdout' is not null or received.data ? 'checker_language'
      or before.data ? 'tests' or after.data ? 'tests' then null
    when coalesce((before.data #>> '{stdout,truncated}')::boolean, true)
      or coalesce((after.data #>> '{stdout,truncated}')::boolean, true) then 'not known'
    when (before.data #> '{stdout,sha256}', before.data -> 'exit_code', before.data -> 'signal')
      is not distinct from (after.data #> '{stdout,sha256}', after.data -> 'exit_code', after.data -> 'signal') then 'same'
    -- The expected output may be a blob, which the log does not distinguish from an input.
    when coalesce(received.data -> 'demands' ? 'blobs', false) then 'not known'
    else 'differs'
  end as output
from runledger.rerun x
join runledger.submission repeated on repeated.id = x.submission_id
left join runledger.result original on original.id = x.rerun_of
left join runledger.account on account.id = repeated.account_id
-- Each by its stream, of few events; a join might read the log.
left join lateral (
  select e.data from runledger.event e where e.stream_id = x.submission_id and e.stream_version = 1 limit 1
) received on true
left join lateral (
  select e.data from runledger.event e where e.stream_id = x.rerun_of and e.type = 'execution.completed' limit 1
) before on true
left join lateral (
  select e.data from runledger.event e where e.stream_id = x.submission_id and e.type = 'execution.completed' limit 1
) after on true;
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
comment on column audit.rerun.output is 'Of a request that expected no output and had no tests: same or differs, by the hash of stdout, the exit code and the signal in both ends; not known where either kept a part of stdout alone or had no end of its own, or where a blob may be the expected output. Null until both have ended, for what was cancelled, and where a verdict judged the output.';
comment on column audit.rerun.status is 'Where the rerun stands: queued, running, completed, failed, cancelled.';
