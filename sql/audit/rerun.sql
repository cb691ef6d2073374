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
    -- The expected output may be a blob, and the log does not distinguish such a blob from an input.
    when coalesce(received.data -> 'demands' ? 'blobs', false) then 'not known'
    else 'differs'
  end as output
from runledger.rerun x
join runledger.submission repeated on repeated.id = x.submission_id
left join runledger.result original on original.id = x.rerun_of
left join runledger.account on account.id = repeated.account_id
-- Lateral look-ups read one stream of few events each. A join might read the whole log.
left join lateral (
  select e.data from runledger.event e where e.stream_id = x.submission_id and e.stream_version = 1 limit 1
) received on true
left join lateral (
  select e.data from runledger.event e where e.stream_id = x.rerun_of and e.type = 'execution.completed' limit 1
) before on true
left join lateral (
  select e.data from runledger.event e where e.stream_id = x.submission_id and e.type = 'execution.completed' limit 1
) after on true;
comment on view audit.rerun is 'One row for each rerun, beside the submission that it repeats: the runtime and the result of both.';
comment on column audit.rerun.submission_id is 'The original submission; a rerun of a rerun names the same original.';
comment on column audit.rerun.rerun_id is 'The submission that repeats the original.';
comment on column audit.rerun.at is 'When the rerun was received.';
comment on column audit.rerun.campaign is 'The name under which an operator repeated many submissions; null: the caller asked for this rerun.';
comment on column audit.rerun.account is 'The account that both submissions belong to.';
comment on column audit.rerun.language is 'The language of both submissions.';
comment on column audit.rerun.tag is 'A text that the caller chose for the submission; both have the same.';
comment on column audit.rerun.runtime_before is 'The exact version that ran the original; null: it never ran.';
comment on column audit.rerun.runtime_after is 'The exact version that ran the rerun; null: it has not started.';
comment on column audit.rerun.verdict_before is 'The original''s verdict.';
comment on column audit.rerun.verdict_after is 'The rerun''s verdict; null until it has one.';
comment on column audit.rerun.changed is 'Whether the verdicts differ; null until both have one, and for cancelled submissions.';
comment on column audit.rerun.output is 'Compares the outputs of a request without expected output and tests. same or differs: by the hash of stdout, the exit code and the signal. not known: only a part of either stdout was kept, either run has no result, or a blob may be the expected output. Null until both have ended, for cancelled submissions, and where the verdict depends on the output.';
comment on column audit.rerun.status is 'The status of the rerun: queued, running, completed, failed, cancelled.';
