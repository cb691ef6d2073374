-- What a stream's last event says of an attempt that is under way.

create or replace function runledger.find_attempt(version integer, type text) returns integer
language sql immutable
as $$
  select case type when 'execution.started' then version when 'submission.cancel_requested' then version - 1 end
$$;
comment on function runledger.find_attempt is 'The version of the execution.started of the attempt that is under way, by version and type of the stream''s last event; null when none is.';
