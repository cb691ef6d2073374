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
