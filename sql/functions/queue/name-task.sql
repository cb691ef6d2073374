-- A worker is handed jobs of the tasks that it names, by us and by graphile-worker: with the language in the task's name no
-- job comes to one that cannot run it. 'execute' alone was the name of all in earlier releases, whose workers know no other.

create or replace function job.name_task(language text) returns text
language sql immutable strict parallel safe
as $$
  select 'execute:' || language
$$;
comment on function job.name_task is 'The task of jobs that execute a submission in this language.';
