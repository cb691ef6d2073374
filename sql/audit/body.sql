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
