-- An operator repeats many submissions, each once, some at a time.

create or replace function runledger.rerun_in_campaign(
  original uuid,
  campaign text,
  at_once integer,
  request jsonb
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  _under_way integer;
begin
  -- Calls of one campaign take turns, so that both counts are exact.
  perform pg_advisory_xact_lock(71831, hashtext(rerun_in_campaign.campaign));
  if exists (
    select from runledger.rerun r
    where r.campaign = rerun_in_campaign.campaign and r.rerun_of = rerun_in_campaign.original
  ) then
    return 'done';
  end if;

  select count(*) into _under_way
  from runledger.pending p
  cross join lateral (
    select from runledger.rerun r
    where r.submission_id = p.submission_id and r.campaign = rerun_in_campaign.campaign
    offset 0 -- one look-up for each that is pending, however many the campaign has
  ) of_campaign;
  if _under_way >= rerun_in_campaign.at_once then
    return 'busy';
  end if;

  return (
    select coalesce(received.refusal, 'received')
    from runledger.rerun_submission(
      rerun_in_campaign.original,
      rerun_in_campaign.request || jsonb_build_object(
        'data', jsonb_build_object('campaign', rerun_in_campaign.campaign, 'priority', 'low')
      )
    ) received
  );
end
$$;
comment on function runledger.rerun_in_campaign is 'Repeats a submission that is no rerun, unless this campaign has, or has so many under way. received; done: it had been; busy: not now; purged, not_final, RL003, 57014: as rerun_submission; null: there is none such.';
