-- In a function that forbids kinds of plans, each plan looks expensive. PostgreSQL compiles expensive plans, so such a function
-- must set jit = off.

do $$
declare
  _functions text[] := array(
    select p.oid::regprocedure::text
    from pg_proc p
    where exists (select from unnest(p.proconfig) setting where setting like 'enable\_%=off')
      and not 'jit=off' = any (p.proconfig)
  );
  _count bigint := (select count(*) from pg_proc p where exists (select from unnest(p.proconfig) s where s like 'enable\_%=off'));
begin
  assert _count > 0, 'no function forbids a plan: this test looks at nothing';
  assert _functions = '{}', format('these forbid plans, and let what is left be compiled: %s', _functions);
end
$$;
