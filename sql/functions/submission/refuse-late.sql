-- A web process answers 503 after 1.8 s: what it no longer waits for must not take effect.

create or replace function runledger.refuse_late() returns void
language plpgsql
as $$
begin
  if clock_timestamp() > statement_timestamp() + interval '1.5 seconds' then
    raise exception 'too late' using errcode = '57014';
  end if;
end
$$;
comment on function runledger.refuse_late is '57014 when the caller''s statement has taken more than 1.5 s: nothing of it is written.';
