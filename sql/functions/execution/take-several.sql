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
  _bytes integer := 0;
begin
  if cardinality(take_several.runs) > 1 then
    -- Who holds one of them may wait for another one. Each is taken by itself then.
    perform set_config('lock_timeout', '10ms', true);
  end if;
  foreach _run in array take_several.runs loop
    select taken.* into
      begun_run, job_id, task_id, submission_id, language, version, code, stdin, expected_stdout, account_id, due_at, detail
    from runledger.take_execution(
      take_several.worker_id, _run, take_several.schema_version, take_several.data, take_several.programs,
      take_several.metadata, _unanswered, take_several.since, _under_way, take_several.reads_detail, take_several.does
    ) taken;
    return next;
    if begun_run is null then
      return;
    end if;
    _unanswered := array_remove(_unanswered, begun_run);
    _under_way := _under_way || begun_run;
    -- Small ones gain by company; large ones would keep each other waiting on their way.
    _bytes := _bytes + coalesce(octet_length(code), 0) + coalesce(octet_length(stdin), 0)
      + coalesce(octet_length(expected_stdout), 0) + coalesce(octet_length(detail), 0);
    if _bytes > 128 * 1024 then
      return;
    end if;
  end loop;
end
$$;
comment on function runledger.take_several is 'take_execution for each of runs, until none waits, or what they are to run is large (128 KiB). One row a job; a row of nulls after the last: nothing more waits. When one fails, or of several one would have to wait for a lock (55P03), nothing was taken.';
