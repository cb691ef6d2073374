-- Finds the submissions that match an operator's filter, in the order of ids. Each step reads and returns a bounded number of
-- rows, however long the history is.

create or replace function runledger.find_bulk(action text, filter jsonb, after uuid, most integer) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _looked constant integer := 5000;
  _since timestamptz := coalesce((filter ->> 'since')::timestamptz, '-infinity');
  _until timestamptz := (filter ->> 'until')::timestamptz;
  -- Ids have the time of the web process that made them, whose clock may be wrong.
  _from uuid := greatest(
    find_bulk.after,
    case when _since > '-infinity' then runledger.uuid_floor(greatest(_since - interval '1 day', 'epoch')) end
  );
  _to uuid := runledger.uuid_floor(greatest(_until + interval '1 day', 'epoch'));
  _account uuid;
  -- The distinct lists of languages that a worker offers, or has offered.
  _offers constant jsonb[] := array(
    select jsonb_agg(language.name) from runledger.list_recent_language('24 hours') language group by language.offer
  );
begin
  select account.id into _account from runledger.account where account.name = filter ->> 'account';
  if filter ? 'account' and _account is null then
    _to := null; -- nothing matches
  end if;

  return (
    with looked as materialized (
      (select p.submission_id as id from runledger.pending p
        where find_bulk.action = 'cancel' and p.submission_id > _from and p.submission_id < _to
        order by p.submission_id limit _looked)
      union all
      (select r.id from runledger.result r
        where find_bulk.action = 'rerun' and r.id > _from and r.id < _to
        order by r.id limit _looked)
      union all
      (select d.submission_id from runledger.delivery d
        where find_bulk.action = 'replay' and d.submission_id > _from and d.submission_id < _to
        order by d.submission_id limit _looked)
    ), fitting as materialized (
      select
        r.id, r.account_id, d.webhook_id,
        case
          when find_bulk.action <> 'rerun' then 'due'
          when exists (
            select from runledger.rerun x where x.campaign = filter ->> 'campaign' and x.rerun_of = r.id
          ) then 'done'
          when r.purged_at is not null then 'purged'
          -- A checker program runs on the worker of the program that it judges. Before the first worker, all languages count.
          when _offers = '{}' or exists (
            select from runledger.event received, unnest(_offers) offer (names)
            where received.stream_id = r.id and received.stream_version = 1
              and offer.names @> to_jsonb(array_remove(array[r.language, received.data ->> 'checker_language'], null))
          ) then 'due'
          else 'not_offered'
        end as state
      from looked
      -- offset 0 makes this one look-up for each. Otherwise a plan may start with all submissions, in the order of their ids.
      cross join lateral (select s.* from runledger.submission s where s.id = looked.id offset 0) r
      left join runledger.delivery d on d.submission_id = looked.id
      where r.created_at >= _since and r.created_at < _until
        and (_account is null or r.account_id = _account)
        and (not filter ? 'language' or r.language = filter ->> 'language')
        and (not filter ? 'status' or r.status = filter ->> 'status')
        and (not filter ? 'verdict' or r.verdict = filter ->> 'verdict')
        and (not filter ? 'tag' or r.tag = filter ->> 'tag')
        and case find_bulk.action
          when 'cancel' then r.status in ('queued', 'running')
          when 'replay' then d.url is not null
            and case when filter ? 'webhook' then d.state = filter ->> 'webhook' else d.state in ('delivered', 'abandoned') end
            -- The caller repeats a step whose answer was lost, which must not replay a webhook twice.
            and not exists (
              select from runledger.event e
              where e.stream_id = d.webhook_id and e.type = 'webhook.replayed' and e.recorded_at >= _until
            )
          else r.rerun_of is null and r.status in ('completed', 'failed')
        end
      order by r.id limit coalesce(find_bulk.most, _looked)
    )
    select jsonb_build_object(
      'count', count(*) filter (where fitting.state = 'due'),
      'skipped', jsonb_build_object(
        'done', count(*) filter (where fitting.state = 'done'),
        'purged', count(*) filter (where fitting.state = 'purged'),
        'not_offered', count(*) filter (where fitting.state = 'not_offered')
      ),
      'items', coalesce(jsonb_agg(to_jsonb(fitting) order by fitting.id) filter (where find_bulk.most is not null), '[]'),
      'next', case
        when count(*) = find_bulk.most then (array_agg(fitting.id order by fitting.id desc))[1]
        else (
          select case when count(*) = _looked then (array_agg(looked.id order by looked.id desc))[1] end from looked
        )
      end
    )
    from fitting
  );
end
$$;
comment on function runledger.find_bulk is 'Finds submissions after this id that match the filter. filter: until, and optionally since, account (its name), language, status, verdict, tag; for replay webhook (a state), for rerun campaign. Returns count; skipped: matches that cannot be rerun, because the campaign has repeated them (done), their body is purged (purged) or no worker offers the languages (not_offered); items (id, account_id, webhook_id, state), at most `most`, none where that is null; next: the cursor, null at the end. A webhook that was replayed since until does not match.';
