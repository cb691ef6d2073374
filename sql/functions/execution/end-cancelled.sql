-- The end of what nothing more will be known of: it never ran, or its attempt is lost.

create or replace function runledger.end_cancelled(
  submission_id uuid,
  version integer,
  data jsonb,
  metadata jsonb
) returns text[]
language plpgsql
as $$
declare
  _recorded_at timestamptz;
begin
  _recorded_at := runledger.append_event(
    end_cancelled.submission_id, end_cancelled.version, 'submission.cancelled', 1, end_cancelled.data, end_cancelled.metadata
  );
  perform runledger.apply_event(
    end_cancelled.submission_id, end_cancelled.version, 'submission.cancelled', end_cancelled.data, _recorded_at
  );
  return runledger.finish_submission(end_cancelled.submission_id);
end
$$;
comment on function runledger.end_cancelled is 'Appends submission.cancelled at this version, with what follows from an end. Returns as runledger.finish_submission. 23505: another event stands there. Called by functions that run as the owner.';
