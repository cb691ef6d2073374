-- Virtual time goes by the more slowly, the more an account weighs.

create or replace function job.share_ticks(ticks bigint, weight integer) returns bigint
language sql
as $$
  -- Up or down by chance: rounded always one way, short programs of a large weight would come too dear.
  select floor(share_ticks.ticks::double precision / share_ticks.weight + random())::bigint
$$;
comment on function job.share_ticks is 'The virtual time that so many ticks of a slot are for an account of this weight.';
