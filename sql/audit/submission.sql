create or replace view audit.submission as
select
  r.id,
  account.name as account,
  k.label as api_key,
  r.language,
  r.status,
  r.verdict,
  r.exit_code,
  r.signal,
  r.cpu_time,
  r.wall_time,
  r.memory_peak,
  r.runtime,
  r.created_at,
  r.started_at,
  r.finished_at,
  r.purged_at,
  received.data #>> '{code,sha256}' as code_sha256,
  (received.data #>> '{code,bytes}')::integer as code_bytes,
  received.metadata ->> 'request' as request,
  r.tag,
  r.exceeded as limit_exceeded,
  coalesce(received.data ->> 'priority', 'normal') as priority
from runledger.submission_from_log r
-- Not a join, because a join might read the first event of every stream.
cross join lateral (
  select e.data, e.metadata from runledger.event e where e.stream_id = r.id and e.stream_version = 1 limit 1
) received
left join runledger.account on account.id = r.account_id
left join runledger.api_key k on k.id = r.api_key_id;
comment on view audit.submission is 'One row for each submission, computed from the log: its account and key, and its result. Times in seconds, memory in bytes.';

create or replace view audit.body as
select
  r.id as submission_id,
  b.submission_id is not null as kept,
  length(b.code) as code_bytes,
  length(b.stdin) as stdin_bytes,
  length(b.expected_stdout) as expected_stdout_bytes,
  length(o.stdout) as stdout_bytes,
  length(o.stderr) as stderr_bytes,
  length(o.compile_output) as compile_output_bytes,
  encode(sha256(b.code), 'hex') as code_sha256,
  encode(sha256(b.stdin), 'hex') as stdin_sha256,
  encode(sha256(o.stdout), 'hex') as stdout_sha256,
  encode(sha256(o.stderr), 'hex') as stderr_sha256,
  r.purged_at,
  length(b.detail) as detail_bytes,
  length(o.report) as report_bytes
from runledger.submission r
left join runledger.body b on b.submission_id = r.id
left join runledger.output o on o.submission_id = r.id;
comment on view audit.body is 'Whether a submission''s bytes are still kept, with their current sizes and hashes, to compare with those in its events. Never the bytes.';

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
