-- Sets how PostgreSQL plans these functions and the functions that they call (docs/decisions/0006-plans-are-pinned.md). The
-- planner ignores that partitions are pruned, and that tables were small when a plan was made. Therefore:
-- functions on a submission's path keep their first plan, because planning costs twice what running does;
-- functions that read a range plan each time; no function scans a whole table or uses just-in-time compilation.

do $$
declare
  _bound record;
  _function text;
  _kind text;
begin
  for _bound in
    select * from (values
      ('force_generic_plan', '{seqscan,bitmapscan,hashjoin,mergejoin}'::text[], '{
        receive,rerun_submission,start,requeue_jobs,conclude,interrupt,cancel,publish_output,read_live_output,read_result
      }'::text[]),
      -- Reads the first few rows by index, however many submissions wait.
      ('force_generic_plan', '{seqscan,bitmapscan,hashjoin,mergejoin,sort}', '{lend_slot}'),
      ('force_custom_plan', '{seqscan,hashjoin,mergejoin,material}', '{
        find_bulk,read_overview,read_progress,read_recent_ends,rebuild_batch,verify
      }'),
      ('force_custom_plan', '{seqscan,bitmapscan,hashjoin,mergejoin,sort}', '{read_series}')
    ) bound (mode, off, functions)
  loop
    foreach _function in array _bound.functions loop
      execute format('alter function runledger.%I set plan_cache_mode = %s set jit = off', _function, _bound.mode);
      foreach _kind in array _bound.off loop
        execute format('alter function runledger.%I set enable_%s = off', _function, _kind);
      end loop;
    end loop;
  end loop;
end
$$;
