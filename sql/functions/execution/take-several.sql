-- Takes several jobs, which share a transaction: a worker has several free slots.

create or replace function runledger.take_several(
  worker_id uuid,
  runs text[],
  schema_version integer,
  data jsonb,
  programs jsonb,
  metadata jsonb,
  unanswered text[],
  since timestamptz,
  under_way text[],
  reads_detail boolean,
  does text[]
) returns table (
  begun_run text,
  job_id bigint,
  task_id integer,
  submission_id uuid,
  language text,
  version integer,
  code bytea,
  stdin bytea,
  expected_stdout bytea,
  account_id uuid,
  due_at timestamptz,
  detail bytea
)
language plpgsql security definer set search_path = ''
as $$
declare
  _run text;
  _unanswered text[] := take_several.unanswered;
  _under_way text[] := take_several.under_way;
begin
  foreach _run in array take_several.runs loop
    begin
      select taken.* into
        begun_run, job_id, task_id, submission_id, language, version, code, stdin, expected_stdout, account_id, due_at, detail
      from runledger.take_execution(
        take_several.worker_id, _run, take_several.schema_version, take_several.data, take_several.programs,
        take_several.metadata, _unanswered, take_several.since, _under_way, take_several.reads_detail, take_several.does
      ) taken;
    exception
      -- What stands in the way of one does not undo those before it: the next call meets it first.
      when others then
        if cardinality(_under_way) = cardinality(take_several.under_way) then
          raise;
        end if;
        return;
    end;
    return next;
    if begun_run is null then
      return;
    end if;
    _unanswered := array_remove(_unanswered, begun_run);
    _under_way := _under_way || begun_run;
    -- What holds these may wait for a later one.
    perform set_config('lock_timeout', '10ms', true);
  end loop;
end
$$;
comment on function runledger.take_several is 'take_execution for each of runs, until one fails or none waits. One row a job; a row of nulls after the last: nothing more waits. It fails only if the first does.';
