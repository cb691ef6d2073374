-- Ends submissions of several attempts in one transaction. Each is stored or refused by itself.

create or replace function runledger.store_several(ends jsonb)
returns table (submission_id uuid, told_to text[], refusal text)
language plpgsql security definer set search_path = ''
-- Nobody waits for what another one of them waits for, and two calls never for each other.
set lock_timeout = '10ms'
as $$
declare
  _end jsonb;
begin
  for _end in
    select element from jsonb_array_elements(store_several.ends) with ordinality e (element, n) order by n
  loop
    submission_id := (_end ->> 'submission_id')::uuid;
    refusal := null;
    begin
      told_to := runledger.store_completion(
        store_several.submission_id,
        (_end ->> 'started_version')::integer,
        (_end ->> 'schema_version')::integer,
        _end -> 'data',
        _end -> 'metadata',
        decode(_end ->> 'stdout', 'base64'),
        decode(_end ->> 'stderr', 'base64'),
        decode(_end ->> 'compile_output', 'base64'),
        _end ->> 'run',
        decode(_end ->> 'report', 'base64')
      );
    exception
      when others then
        refusal := sqlstate;
    end;
    return next;
  end loop;
end
$$;
comment on function runledger.store_several is 'Ends each (an object of what store_completion takes, the bodies in base64) as that does. One row an end, in their order; refusal: the SQLSTATE with which it failed, and nothing was written of it. 55P03: it would have had to wait.';
