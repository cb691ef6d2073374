create or replace view audit.account as
select
  account.id,
  account.name,
  account.created_at,
  account.blob_bytes,
  coalesce(kept.bytes, 0) as output_bytes_today
from runledger.account
left join runledger.kept_output kept
  on kept.account_id = account.id and kept.day = (now() at time zone 'UTC')::date;
comment on view audit.account is 'Accounts. blob_bytes: the bytes of their blobs that count against the quota; output_bytes_today: bytes kept today (UTC) of their runs'' outputs, as of some seconds ago.';

create or replace view audit.api_key as
select k.id, account.name as account, k.label, k.tier, k.created_at, k.expires_at, k.revoked_at, k.role,
  k.read_only, k.name
from runledger.api_key k
join runledger.account on account.id = k.account_id;
comment on view audit.api_key is 'API keys, without their secrets; label is the key''s first characters.';
comment on column audit.api_key.role is 'submit, or operator: an operator''s key inspects and controls the service, and submits nothing.';
comment on column audit.api_key.read_only is 'True for an operator''s key that can only read.';
comment on column audit.api_key.name is 'The name given when the key was issued, which its successors keep; null: none. Not unique.';

create or replace view audit.tier as
select
  t.name,
  t.requests_per_minute,
  t.concurrent_executions,
  (
    select count(*) from runledger.api_key k
    where k.tier = t.name and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  ) as keys,
  t.limits,
  t.blob_bytes,
  t.weight,
  t.total_seconds,
  t.output_bytes,
  t.cores,
  t.batch_items
from runledger.tier t;
comment on view audit.tier is 'The limits of keys: requests in any 60 seconds, concurrent executions; null is unlimited. keys: the number of valid keys; limits: the upper bounds of a submission''s limits; blob_bytes: the most bytes of blobs of an account; weight: of the account''s share of the slots; total_seconds: how long a submission may run in all; output_bytes: the most bytes of an account''s outputs that are kept in a day; cores: the most that a box may use at once, null: its slot''s share of the worker''s cores; batch_items: the most submissions of a batch.';

create or replace view audit.blob as
select
  a.name as account,
  b.account_id,
  encode(b.sha256, 'hex') as sha256,
  b.bytes,
  b.created_at,
  b.used_at
from runledger.blob b
join runledger.account a on a.id = b.account_id;
comment on view audit.blob is 'Blobs: account, SHA-256, size, when each was uploaded, and when it was last used (to within half a day). Never the bytes.';

create or replace view audit.worker as
select
  w.id, w.host, w.pid, w.slots, w.started_at, w.renewed_at, w.stopped_at, life.alive, w.suspended_at,
  w.version, w.isolation, w.languages,
  case
    when w.is_lost then 'lost'
    when w.stopped_at is not null then 'drained'
    when not life.alive then 'gone'
    when w.wanted = 'drained' then 'draining'
    when w.wanted = 'restarted' then 'restarting'
    when w.wanted = 'paused' then 'paused'
    when w.suspended_at is not null then 'suspended'
    else 'working'
  end as state,
  case when w.suspended_at is not null then coalesce(w.suspended_because, 'its sandbox failed') end as suspended_because,
  w.wanted
from runledger.worker w
cross join lateral (select runledger.is_worker_alive(w.id) as alive) life;
comment on view audit.worker is 'Worker processes, past and present: version, isolation, languages and state. suspended_at: since when a worker takes no submissions, because its sandbox failed.';
comment on column audit.worker.version is 'The version of Runledger.';
comment on column audit.worker.isolation is 'How the worker''s boxes are made, as in audit.execution.';
comment on column audit.worker.languages is 'The languages that the worker runs, each with its version, command lines and limits.';
comment on column audit.worker.state is 'working, suspended, paused, draining (it ends when its submissions have finished), restarting (it drains and then starts again), gone (it is silent, and not yet declared lost), lost (it was declared lost) or drained (it ended by itself).';
comment on column audit.worker.suspended_because is 'What failed, as the worker describes it.';
comment on column audit.worker.wanted is 'What operators want of the worker: working, paused, drained or restarted. Its stream (audit.event) says who gave the command.';

create or replace view audit.running as
select
  p.submission_id, account.name as account, k.label as api_key, p.language, p.attempts as attempt, p.worker_id, w.host, p.started_at
from runledger.pending p
left join runledger.worker w on w.id = p.worker_id
left join runledger.account on account.id = p.account_id
left join runledger.api_key k on k.id = p.api_key_id
where p.is_running;
comment on view audit.running is 'One row for each submission that runs now: account, key, attempt, worker and start.';

create or replace view audit.scaling as
select
  of_language.language, of_language.running, of_language.waiting, of_language.oldest_seconds,
  (of_language.running + least(of_language.waiting, 1 + floor(of_language.waiting * of_language.oldest_seconds / 30)))::integer as wanted_slots
from (
  select
    p.language,
    count(*) filter (where p.is_running)::integer as running,
    count(*) filter (where not p.is_running)::integer as waiting,
    greatest(0, extract(epoch from clock_timestamp() - min(p.created_at) filter (where not p.is_running)))::double precision as oldest_seconds
  from runledger.pending p
  where p.admitted
  group by p.language
) of_language;
comment on view audit.scaling is 'One row for each language with a submission that runs or waits for a slot: how many slots the language needs now, for a controller that starts and stops workers. Reads unfinished submissions only.';
comment on column audit.scaling.running is 'Attempts under way. Each has a slot, or is parked between two tests.';
comment on column audit.scaling.waiting is 'Submissions that a free slot would take. Submissions that wait for others of their own key are not counted, because no slot would start them.';
comment on column audit.scaling.oldest_seconds is 'Seconds since the oldest waiting submission was received; 0: none waits.';
comment on column audit.scaling.wanted_slots is 'running, plus a share of waiting that grows with oldest_seconds: the first one at once, and all of them from 30 on. So a short burst starts few workers, and a queue that does not shrink gets a slot for each submission.';

create or replace view audit.overview as
select runledger.read_overview() as overview;
comment on view audit.overview is 'One row: the state of the whole service for operators, as JSON (runledger.read_overview). Its cost grows with the unfinished submissions, not with the history.';
