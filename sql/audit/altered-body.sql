create or replace view audit.altered_body as
select b.submission_id, altered.part, altered.logged_sha256, encode(altered.sha256, 'hex') as sha256
from runledger.body b
left join runledger.output o on o.submission_id = b.submission_id
join runledger.event received on received.stream_id = b.submission_id and received.stream_version = 1
left join runledger.event ended on ended.stream_id = b.submission_id and runledger.closes_submission(ended.type)
cross join lateral (
  values
    ('code', sha256(b.code), received.data #>> '{code,sha256}'),
    ('stdin', sha256(b.stdin), received.data #>> '{stdin,sha256}'),
    ('expected_stdout', sha256(b.expected_stdout), received.data #>> '{expected_stdout,sha256}'),
    ('detail', sha256(b.detail), received.data #>> '{detail,sha256}'),
    ('blobs', sha256(b.blobs), received.data #>> '{blob_list,sha256}'),
    ('report', sha256(o.report), ended.data #>> '{report,sha256}'),
    ('stdout', sha256(o.stdout), ended.data #>> '{stdout,sha256}'),
    ('stderr', sha256(o.stderr), ended.data #>> '{stderr,sha256}'),
    ('compile_output', sha256(o.compile_output), ended.data #>> '{compile_output,sha256}')
) altered (part, sha256, logged_sha256)
where encode(altered.sha256, 'hex') is distinct from altered.logged_sha256;
comment on view audit.altered_body is 'Code, inputs, outputs and other bodies whose bytes do not have the hash that the log has. Empty when nobody changed them.';
