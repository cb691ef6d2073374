-- The end of what nothing more will be known of: it never ran, or its attempt is lost.

create or replace function runledger.end_cancelled(
  submission_id uuid,
  version integer,
  data jsonb,
  metadata jsonb
) returns text[]
language plpgsql
as $$
begin
  perform runledger.append_event(
    end_cancelled.submission_id, end_cancelled.version, 'submission.cancelled', 1, end_cancelled.data, end_cancelled.metadata
  );
  perform runledger.refresh_result(end_cancelled.submission_id);
  return (select f.told_to from runledger.finish_submissions(array[end_cancelled.submission_id]) f);
end
$$;
comment on function runledger.end_cancelled is 'Appends submission.cancelled at this version, with what follows from an end. Returns the channels of who waits for the end, as runledger.finish_submissions does. 23505: another event stands there. Called by functions that run as the owner.';
