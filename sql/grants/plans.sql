-- How these functions are planned, whoever calls them; what they call is planned likewise. PostgreSQL reckons neither with the
-- pruning of partitions nor with tables that were small when a plan was made, so:
-- those of one submission's path keep their first plan (planning costs twice what running does),
-- those that read a range plan each time, and none reads a table whole or compiles a plan that only looks dear.

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
      -- The first few by index, however many wait.
      ('force_generic_plan', '{seqscan,bitmapscan,hashjoin,mergejoin,sort}', '{lend_slot}'),
      ('force_custom_plan', '{seqscan,hashjoin,mergejoin,material}', '{find_bulk,read_overview,read_recent_ends,verify}'),
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
