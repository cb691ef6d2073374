// SQLite's programs: SQL, and the commands of its shell.
import type { Programs } from './program.ts'

export const sqlite: Programs = {
  sum: `create table numbers (number integer);
.import /dev/stdin numbers
select sum(number) from numbers;`,
  copy: `select trim(readfile('/dev/stdin'), char(10));`,
  unicode: `create table lines (line text);
.import /dev/stdin lines
select 'Grüße, 世界 🎉';
select line from lines;`,
  exitThree: `.print out
.output stderr
.print err
.exit 3`,
  uncaught: {
    code: `create table rows (number integer check (number > 0));
insert into rows values (1);
insert into rows values (-1);
select * from rows;`,
    says: /CHECK constraint failed: number > 0/,
  },
  broken: {
    code: `create table rows (number integer);
insert into rows values (1);
selct * from rows;
`,
    says: /line 3: near "selct": syntax error/,
  },
  busyLoop: `with recursive numbers (n) as (select 1 union all select n + 1 from numbers)
select max(n) from numbers;`,
  sleeper: '.shell sleep 60',
  memoryBomb: `with recursive numbers (n) as (select 1 union all select n + 1 from numbers)
select group_concat(hex(zeroblob(1000))) from numbers;`,
  outputFlood: `with recursive numbers (n) as (select 1 union all select n + 1 from numbers)
select n, 'x' from numbers;`,
  scratch: `.output /tmp/file
select 'kept';
.output
select readfile('/tmp/file');`,
  threads: { cannot: 'a statement runs in one thread' },
  network: { cannot: 'has no sockets' },
  usual: `.mode list
.separator " "
create table rows (name text, number integer);
.import /dev/stdin rows

select name || ': ' || number
from rows
order by number, name;

select printf('mean: %.2f', avg(number)) from rows;`,
  arguments: {
    cannot: 'words after its first are commands to its shell, and SQL sees none of them',
  },
  variable: { cannot: 'SQL sees no variables' },
  secondFile: {
    code: '.read answer.sql\nselect n from answer;',
    file: { name: 'answer.sql', content: 'create view answer as select 42 as n;\n' },
  },
}
