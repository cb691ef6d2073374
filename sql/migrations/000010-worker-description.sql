-- What a worker says of itself beside its languages: of which release it is, what its boxes are, and why it is suspended.

alter table runledger.worker
  add column version text,
  add column isolation jsonb,
  add column suspended_because text;
comment on column runledger.worker.version is 'Of Runledger; null for a worker of a release that does not tell.';
comment on column runledger.worker.isolation is 'How its boxes are made: box (keeper or bubblewrap), cgroup (v1 or v2), uid (slot or worker); null for a worker of a release that does not tell.';
comment on column runledger.worker.suspended_because is 'What failed, in the worker''s own words; null when it is not suspended.';
