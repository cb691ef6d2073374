-- A checker that is a program runs where the program ran that it judges.

create or replace function runledger.is_offered(language text, checker_language text, offers jsonb[]) returns boolean
language sql immutable
as $$
  select offers is null or exists (
    select from unnest(offers) offer (names)
    where offer.names @> to_jsonb(array_remove(array[language, checker_language], null))
  )
$$;
comment on function runledger.is_offered is 'Whether one worker has both languages; checker_language: null without a checker that is a program. offers: as runledger.list_recent_offers tells them; null: any language is taken.';
