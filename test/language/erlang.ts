// Erlang's programs: scripts, and a module.
import type { Programs } from './program.ts'

export const erlang: Programs = {
  sum: `main(_) ->
    {ok, [A]} = io:fread("", "~d"),
    {ok, [B]} = io:fread("", "~d"),
    io:format("~p~n", [A + B]).`,
  copy: `-module(main).
-export([main/0]).

main() ->
    case io:get_line("") of
        eof -> ok;
        Line -> io:put_chars(Line), main()
    end.`,
  unicode: `main(_) ->
    io:format("~ts~n", ["Grüße, 世界 🎉"]),
    io:format("~ts", [io:get_line("")]).`,
  exitThree: `main(_) ->
    io:format("out"),
    io:format(standard_error, "err", []),
    halt(3).`,
  uncaught: {
    code: 'main(_) -> f(1).\n\nf(_) ->\n    error(no_such_thing).',
    says: /escript: exception error: no_such_thing\n.*main:f\/1 \(main\.erl, line 4\)/,
  },
  broken: {
    code: 'main(_) ->\n    A = 1,\n    B = = 2,\n    A + B.\n',
    says: /main\.erl:3:\d+: syntax error/,
  },
  busyLoop: '-module(main).\n-export([main/0]).\n\nmain() -> main().',
  sleeper: 'main(_) -> timer:sleep(60000).',
  memoryBomb: `main(_) -> grow([]).

grow(Kept) -> grow([binary:copy(<<"x">>, 1000000) | Kept]).`,
  outputFlood: `main(_) ->
    io:format("for ever and ever and ever~n"),
    main([]).`,
  scratch: `main(_) ->
    ok = file:write_file("/tmp/file", "kept\\n"),
    {ok, Text} = file:read_file("/tmp/file"),
    io:put_chars(Text).`,
  threads: `-module(main).
-export([main/0]).

main() ->
    Self = self(),
    [spawn(fun() -> Self ! lists:sum(lists:seq(Part * 250 + 1, Part * 250 + 250)) end)
     || Part <- lists:seq(0, 3)],
    Sums = [receive Sum -> Sum end || _ <- lists:seq(1, 4)],
    io:format("~p~n", [lists:sum(Sums)]).`,
  network: `main(_) ->
    case gen_tcp:connect({127, 0, 0, 1}, 9, [], 5000) of
        {ok, _} -> io:format("open~n");
        {error, _} -> io:format("closed~n")
    end.`,
  usual: `main(_) ->
    Rows = lists:sort(rows()),
    [io:format("~s: ~b~n", [Name, Number]) || {Number, Name} <- Rows],
    Sum = lists:sum([Number || {Number, _} <- Rows]),
    io:format("mean: ~.2f~n", [Sum / length(Rows)]).

rows() ->
    case io:get_line("") of
        eof -> [];
        Line ->
            {match, [Name, Number]} =
                re:run(Line, "^(\\\\w+)\\\\s+(-?\\\\d+)", [{capture, all_but_first, list}]),
            [{list_to_integer(Number), Name} | rows()]
    end.`,
  arguments: 'main(Words) -> [io:format("~ts~n", [Word]) || Word <- Words].',
  variable: 'main(_) -> io:format("~ts~n", [os:getenv("GREETING")]).',
  secondFile: {
    code: 'main(_) -> io:format("~p~n", [answer:get()]).',
    file: { name: 'answer.erl', content: '-module(answer).\n-export([get/0]).\n\nget() -> 42.\n' },
  },
}
