-- A job comes only to workers that name its task, so that with the language in it they run it. Earlier releases know
-- plain 'execute' alone.

create or replace function job.name_task(language text) returns text
language sql immutable strict parallel safe
as $$
  select 'execute:' || language
$$;
comment on function job.name_task is 'The task of jobs that execute a submission in this language.';
