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
comment on view audit.scaling is 'One row a language of which something runs or waits for a slot: how many slots its programs want now. For what starts and ends workers by the queue. An aggregate of what is unfinished, and of nothing else.';
comment on column audit.scaling.running is 'Attempts under way; each has a slot, or waits for one between two tests.';
comment on column audit.scaling.waiting is 'Submissions that a free slot would take. Those that wait for others of their own key are not among them, as no slot would start them.';
comment on column audit.scaling.oldest_seconds is 'Since the oldest of those that wait was received; 0: none waits.';
comment on column audit.scaling.wanted_slots is 'running, and of waiting a share that grows with oldest_seconds: the first at once, all from 30 on. So a burst that ends by itself starts few workers, and a queue that stands is given a slot for each.';
