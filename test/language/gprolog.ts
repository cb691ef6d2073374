// Prolog programs, run by GNU Prolog.
import type { Programs } from './program.ts'

export const gprolog: Programs = {
  sum: `:- initialization(main).

main :- read_integer(A), read_integer(B), Sum is A + B, write(Sum), nl.
`,
  copy: `:- initialization(main).

main :- get_char(C), ( C == end_of_file -> true ; put_char(C), main ).
`,
  unicode: `:- initialization(main).

line :- get_char(C), put_char(C), ( C == '\\n' -> true ; line ).

main :- write('Grüße, 世界 🎉'), nl, line.
`,
  exitThree: `:- initialization(main).

main :- write(out), write(user_error, err), halt(3).
`,
  uncaught: {
    code: { cannot: 'it tells errors of an initialization goal on stdout, and exits with 0' },
    says: /^/,
  },
  broken: { code: 'a(1).\nb(2).\nc(3)) :- a(1).\n', says: /main\.pl:3:5: syntax error/ },
  busyLoop: ':- initialization(main).\n\nmain :- repeat, fail.\n',
  sleeper: ':- initialization(main).\n\nmain :- sleep(60).\n',
  memoryBomb: ':- initialization(main).\n\nmain :- grow([]).\n\ngrow(Kept) :- grow([x|Kept]).\n',
  outputFlood:
    ":- initialization(main).\n\nmain :- repeat, write('for ever and ever and ever'), nl, fail.\n",
  scratch: `:- initialization(main).

main :-
    open('/tmp/file', write, Out), write(Out, 'kept.'), nl(Out), close(Out),
    open('/tmp/file', read, In), read(In, Kept), close(In),
    write(Kept), nl.
`,
  threads: { cannot: 'it has no threads' },
  network: `:- initialization(main).

main :-
    catch((socket('AF_INET', S), socket_connect(S, 'AF_INET'('127.0.0.1', 9), _, _)), _, (write(closed), nl)).
`,
  usual: `:- initialization(main).

row(Number-Name) :-
    read_token(Name), Name \\== punct(end_of_file), read_integer(Number).

rows([Row|Rows]) :- row(Row), !, rows(Rows).
rows([]).

main :-
    rows(Rows),
    msort(Rows, Sorted),
    forall(member(Number-Name, Sorted), format("~w: ~d~n", [Name, Number])),
    findall(Number, member(Number-_, Rows), Numbers),
    sum_list(Numbers, Sum), length(Numbers, Count),
    Mean is Sum / Count,
    format("mean: ~2f~n", [Mean]).
`,
  arguments: `:- initialization(main).

say([]).
say([Word|Words]) :- write(Word), nl, say(Words).

main :- argument_list(Words), say(Words).
`,
  variable: `:- initialization(main).

main :- environ('GREETING', Value), write(Value), nl.
`,
  secondFile: {
    code: ":- include('answer.pl').\n:- initialization(main).\n\nmain :- answer(N), write(N), nl.\n",
    file: { name: 'answer.pl', content: 'answer(42).\n' },
  },
}
