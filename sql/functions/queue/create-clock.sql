-- DDL, so it is done when an account is made, not while it submits.

create or replace function job.create_clock(account_id uuid) returns void
language plpgsql
as $$
declare
  _part text;
begin
  foreach _part in array array['', ' cost', ' credit', ' debt'] loop
    if job.find_clock(create_clock.account_id, _part) is null then
      execute format('create sequence turn.%I minvalue 0 start 0', create_clock.account_id || _part);
    end if;
  end loop;
end
$$;
comment on function job.create_clock is 'Makes what is missing of an account''s four sequences, all in ticks: "ID", where its next program comes (job.next_turn); "ID cost", what one takes of late at weight 1; "ID credit", what it was charged too much; "ID debt", ever, what it was charged too little.';
