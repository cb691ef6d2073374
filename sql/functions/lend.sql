-- Between two of its tests, a submission that has had its slot for a while lends it to the account that is next by the fair
-- order. The submission is then parked: its attempt is still under way, under its worker's lease, and it waits in the queue
-- with a job that only this worker takes.

create or replace function runledger.lend_slot(
  submission_id uuid, run text, seconds double precision, offers jsonb, capabilities jsonb
) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  _p runledger.pending;
  _last constant bigint := 9223372036854775807;
  _first bigint;
begin
  select p.* into _p
  from runledger.pending p
  join runledger.worker w on w.id = p.worker_id
  where p.submission_id = lend_slot.submission_id and p.is_running and p.run = lend_slot.run and not p.is_cancelled
    and (p.is_parked or w.wanted = 'working' and w.suspended_at is null)
  for update of p;
  if not found then
    return false;
  end if;
  if not _p.is_parked then
    if not _p.is_low then
      -- The last position of the account that runs, plus the price of the slice that has just ended.
      select coalesce(max(p.position), 0) + (
        1000000 * lend_slot.seconds / coalesce((
          select tier.weight from runledger.api_key k join runledger.tier on tier.name = k.tier where k.id = _p.api_key_id
        ), 1)
      )::bigint
      into _p.position
      -- Reads running submissions only, because the account may have very many queued.
      from (select r.account_id, r.position from runledger.pending r where r.is_running offset 0) p
      where p.account_id = _p.account_id;
    end if;
    -- True if a submission of another account waits for a slot of this worker, queued or parked, at a lower position. A low
    -- submission also lends to any waiting one of another account, and to normal ones of its own. Null: none waits. The loop
    -- reads a few rows at a time and stops at the first submission that is next.
    _p.is_parked := null;
    for _first in
      -- Steps from account to account by index, because one account may have very many waiting.
      with recursive account (id) as (
        (select p.account_id from runledger.pending p order by p.account_id limit 1)
        union all
        select (
          select p.account_id from runledger.pending p where p.account_id > account.id order by p.account_id limit 1
        )
        from account where account.id is not null
      )
      select coalesce(first.position, _last)
      from account
      cross join lateral (
        select p.position from runledger.pending p
        where p.account_id = account.id
          and (account.id <> _p.account_id or _p.is_low)
          and (account.id <> _p.account_id or not p.is_low)
          and case
            when p.is_running then p.is_parked and p.worker_id = _p.worker_id
            else p.admitted and runledger.suits_worker(p.language, p.requires, lend_slot.offers, lend_slot.capabilities)
          end
        order by p.position limit 1
      ) first
      where account.id is not null
    loop
      _p.is_parked := _first < coalesce(_p.position, _last) or _p.is_low;
      exit when _p.is_parked;
    end loop;
    if _p.is_parked is null then
      return false;
    end if;
    update runledger.pending p set position = _p.position, is_parked = _p.is_parked
    where p.submission_id = _p.submission_id;
  end if;
  if _p.is_parked then
    perform graphile_worker.add_job(
      'continue:' || _p.worker_id,
      json_build_object('submission', _p.submission_id, 'run', _p.run),
      run_at => job.position_time(_p.position),
      job_key => 'continue:' || _p.run,
      priority => case when _p.is_low then 1 else 0 end
    );
    perform pg_notify('runledger_job', '');
  end if;
  return _p.is_parked;
end
$$;
comment on function runledger.lend_slot is 'Decides whether a submission that is between two tests, after having its slot for so many seconds, lends the slot. True: another account is next by the fair order. The submission is parked, at a position later by these seconds, and its job (continue:<worker>) says when it goes on. False: it goes on at once; where another account waits at a later position, the seconds are counted all the same. A repeated call while it is parked adds the job again. offers, capabilities: as in runledger.suits_worker.';

create or replace function runledger.take_slot(submission_id uuid, run text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update runledger.pending p set is_parked = false
  where p.submission_id = take_slot.submission_id and p.run = take_slot.run and p.is_parked;
  perform graphile_worker.remove_job('continue:' || take_slot.run);
end
$$;
comment on function runledger.take_slot is 'Takes a submission that was parked out of the queue, because it goes on or has ended.';
