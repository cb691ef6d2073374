// Erlang: a script with main/1, or a module with main/0, main/1 or start/0.
import type { LanguageDefinition } from './definition.ts'

export const erlang = {
  title: 'Erlang',
  aliases: ['erl'],
  extensions: ['.erl'],
  comment: ['%', ''],
  packages: ['erlang-base'],
  tools: [
    {
      program: 'erl',
      title: 'Erlang runtime',
      ask: ['-version'],
      pattern: /emulator version (\d+)\.(\d+)\S*/mu,
      oldest: [11, 0],
    },
  ],
  least: { memory: 48 * 1024 * 1024, processes: 24 },
  example: `main(_) ->
    io:format("Hello, world!~n").`,
  trial: `main(_) -> io:setopts([binary, {encoding, latin1}]), io:format("~p~n", [n(0)]).
n(N) -> case file:read(standard_io, 4096) of {ok, B} -> n(N + byte_size(B)); eof -> N end.`,
  recipe: {
    source: 'main.erl',
    run: [
      '/bin/sh',
      '-c',
      // The source is always compiled, because escript would interpret a script and print warnings to stdout.
      String.raw`module=$(sed -n 's/^ *-module(\([a-z][A-Za-z0-9_]*\)).*/\1/p' main.erl | head -n 1)
source=main.erl
if [ -z "$module" ]; then
  module=main source=/tmp/main.erl
  { printf -- '-module(main).\n-export([main/1]).\n-file("main.erl", 0).\n'; sed '1s/^#!/%&/' main.erl; } > "$source"
fi
others=
for file in *.erl; do
  [ "$file" = main.erl ] || others="$others ./$file"
done
erlc +no_error_module_mismatch -o /tmp "$source" $others >&2 || exit
[ "$module" = main ] || mv /tmp/main.beam "/tmp/$module.beam"
case $(grep -o 'main/0\|start/0' main.erl | head -n 1) in
  main/0) call='main()' ;;
  start/0) call='start()' ;;
  *) call='main(A)' ;;
esac
printf '#!\n%%%%! -pa /tmp\nmain(A) -> _ = A, %s:%s.\n' "$module" "$call" > /tmp/start
exec escript /tmp/start "$@"`,
      'sh',
    ],
    typed: { run: ['escript', 'main.erl'] },
    environment: {
      ERL_CRASH_DUMP_BYTES: '0',
      // Text is UTF-8, as on a terminal. The runtime's reports go to stderr, because they are not the program's output.
      ERL_AFLAGS:
        '-eval "io:setopts(user,[{encoding,unicode}])" -kernel logger "[{handler,default,logger_std_h,#{config=>#{type=>standard_error}}}]"',
    },
    usualStack: true,
  },
} as const satisfies LanguageDefinition
