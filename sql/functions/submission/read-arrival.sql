-- Reads a submission that comes with others: what receive_submission takes, the bodies in base64.

create or replace function runledger.read_arrival(
  request runledger.submission_request,
  item jsonb,
  account_id uuid,
  weight integer
) returns runledger.arrival
language sql immutable
as $$
  select row(
    read_arrival.request, decode(read_arrival.item ->> 'code', 'base64'), decode(read_arrival.item ->> 'stdin', 'base64'),
    decode(read_arrival.item ->> 'expected_stdout', 'base64'), decode(read_arrival.item ->> 'detail', 'base64'),
    read_arrival.account_id, read_arrival.weight, true
  )::runledger.arrival
$$;
comment on function runledger.read_arrival is 'An item of runledger.receive_several or runledger.receive_batch with its request, admitted, of an account of this weight.';
