// Prolog's programs.
import type { Programs } from './program.ts'

export const prolog: Programs = {
  sum: `:- initialization(main).

number_from_line(N) :-
    read_line_to_string(user_input, Line),
    number_string(N, Line).

main :-
    number_from_line(A),
    number_from_line(B),
    Sum is A + B,
    writeln(Sum).`,
  copy: `:- initialization(main).

main :-
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  true
    ;   writeln(Line),
        main
    ).`,
  unicode: `:- initialization(main).

main :-
    writeln('Grüße, 世界 🎉'),
    read_line_to_string(user_input, Line),
    writeln(Line).`,
  exitThree: `:- initialization(main).

main :-
    write(out),
    write(user_error, err),
    halt(3).`,
  uncaught: {
    code: ':- initialization(main).\n\nmain :-\n    X is foo + 1,\n    writeln(X).',
    says: /main\.pl:1:[^]*Arithmetic: .*`foo\/0'/,
  },
  broken: { code: 'a(1).\nb(2).\nc(3)) :- a(1).\n', says: /main\.pl:3:\d+: Syntax error/ },
  busyLoop: ':- initialization(main).\n\nmain :- repeat, fail.',
  sleeper: ':- initialization(main).\n\nmain :- sleep(60).',
  memoryBomb: ':- initialization(main).\n\nmain :- grow([]).\n\ngrow(Kept) :- grow([x|Kept]).',
  outputFlood: ":- initialization(main).\n\nmain :- writeln('for ever and ever and ever'), main.",
  scratch: `:- initialization(main).

main :-
    setup_call_cleanup(open('/tmp/file', write, Out), writeln(Out, kept), close(Out)),
    read_file_to_string('/tmp/file', Text, []),
    write(Text).`,
  threads: `:- initialization(main).

add(Part, Sum) :-
    First is Part * 250 + 1,
    Last is Part * 250 + 250,
    numlist(First, Last, Numbers),
    sum_list(Numbers, Sum).

main :-
    concurrent_maplist(add, [0, 1, 2, 3], Sums),
    sum_list(Sums, Sum),
    writeln(Sum).`,
  network: `:- use_module(library(socket)).
:- initialization(main).

main :-
    catch(tcp_connect('127.0.0.1':9, _, []), _, writeln(closed)).`,
  usual: `:- use_module(library(readutil)).
:- use_module(library(dcg/basics)).
:- initialization(main).

row(Number-Name) --> string_without(\` \`, Codes), blanks, integer(Number), blanks,
    { atom_codes(Name, Codes) }.

rows(Rows) :-
    read_line_to_codes(user_input, Line),
    (   Line == end_of_file
    ->  Rows = []
    ;   phrase(row(Row), Line),
        Rows = [Row|Others],
        rows(Others)
    ).

main :-
    rows(Rows),
    msort(Rows, Sorted),
    forall(member(Number-Name, Sorted), format("~w: ~d~n", [Name, Number])),
    pairs_keys(Rows, Numbers),
    sum_list(Numbers, Sum),
    length(Numbers, Count),
    Mean is Sum / Count,
    format("mean: ~2f~n", [Mean]).`,
  arguments: `:- initialization(main, main).

main(Words) :- forall(member(Word, Words), (write(Word), nl)).
`,
  variable: `:- initialization(main, main).

main :- getenv('GREETING', Value), write(Value), nl.
`,
  secondFile: {
    code: ':- use_module(answer).\n:- initialization((answer(N), write(N), nl)).\n',
    file: { name: 'answer.pl', content: ':- module(answer, [answer/1]).\nanswer(42).\n' },
  },
}
