-- What a submission's end says of its result, for result_from_log and apply_events.

create or replace function runledger.read_outcome(type text, data jsonb)
returns table (
  status text,
  verdict text,
  exit_code integer,
  signal text,
  stdout_truncated boolean,
  stderr_truncated boolean,
  cpu_time double precision,
  wall_time double precision,
  memory_peak bigint
)
-- Without settings, so that it is inlined.
language sql immutable
as $$
  select
    case type when 'execution.completed' then 'completed' when 'submission.cancelled' then 'cancelled' else 'failed' end,
    case type when 'execution.completed' then data ->> 'verdict' when 'execution.abandoned' then 'IE' end,
    (data ->> 'exit_code')::integer,
    data ->> 'signal',
    coalesce((data #>> '{stdout,truncated}')::boolean, false),
    coalesce((data #>> '{stderr,truncated}')::boolean, false),
    coalesce((data #>> '{run,cpu_seconds}')::double precision, 0),
    coalesce((data #>> '{run,wall_seconds}')::double precision, 0),
    coalesce((data #>> '{run,memory_peak_bytes}')::bigint, 0)
$$;
comment on function runledger.read_outcome is 'What execution.completed, execution.abandoned or submission.cancelled says of a result; one row.';
