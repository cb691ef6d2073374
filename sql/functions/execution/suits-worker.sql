-- A worker of a release before would leave out half of what a submission's detail asks, and one without its checker's language
-- could not judge it.

create or replace function runledger.suits_worker(received jsonb, offers text[], does text[]) returns boolean
language sql immutable
as $$
  select not coalesce(
    received ? 'detail' and (
      offers is null or received ->> 'checker_language' <> all (offers) or not received -> 'demands' <@ to_jsonb(does)
    ),
    false
  )
$$;
comment on function runledger.suits_worker is 'Whether a worker can do what a submission asks, by the data of its submission.received. offers: the languages of a worker that does what a detail asks, else null. does: what it can do of what submissions demand.';
