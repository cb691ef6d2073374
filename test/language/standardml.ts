// Standard ML's programs.
import type { Programs } from './program.ts'

export const standardml: Programs = {
  sum: `fun readInt () = valOf (Int.fromString (valOf (TextIO.inputLine TextIO.stdIn)))
fun main () =
  let
    val a = readInt ()
    val b = readInt ()
  in
    print (Int.toString (a + b) ^ "\\n")
  end
val () = main ()`,
  copy: `fun loop () =
  case TextIO.inputLine TextIO.stdIn of
    SOME line => (print line; loop ())
  | NONE => ()
val () = loop ()`,
  unicode: `val () = print "Grüße, 世界 🎉\\n"
val () = print (valOf (TextIO.inputLine TextIO.stdIn))`,
  exitThree: `val () = print "out"
val () = TextIO.flushOut TextIO.stdOut
val () = TextIO.output (TextIO.stdErr, "err")
val () = Posix.Process.exit 0w3`,
  uncaught: {
    code: 'fun f x = raise Fail ("no such thing: " ^ Int.toString x)\nval () = f 1',
    says: /Fail "no such thing: 1"/,
  },
  broken: {
    code: 'val a = 1\nval b = 2\nval c = a + "b"\n',
    says: /main\.sml:3: error: Type error in function application/,
  },
  busyLoop: 'fun loop n = loop (n + 1 - 1)\nval () = loop 0',
  sleeper: 'val () = OS.Process.sleep (Time.fromSeconds 60)',
  memoryBomb: `fun loop kept = loop (Array.array (100000, length kept) :: kept)
val () = loop []`,
  outputFlood: `fun loop () = (print "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\n"; loop ())
val () = loop ()`,
  scratch: `fun main () =
  let
    val out = TextIO.openOut "/tmp/file"
    val () = TextIO.output (out, "kept\\n")
    val () = TextIO.closeOut out
    val file = TextIO.openIn "/tmp/file"
  in
    print (TextIO.inputAll file)
  end
val () = main ()`,
  threads: `open Thread
val lock = Mutex.mutex ()
val ready = ConditionVar.conditionVar ()
val sums = ref []
fun work part () =
  let
    val sum = foldl op+ 0 (List.tabulate (250, fn n => part * 250 + n + 1))
  in
    Mutex.lock lock;
    sums := sum :: !sums;
    ConditionVar.signal ready;
    Mutex.unlock lock
  end
fun wait () = if length (!sums) < 4 then (ConditionVar.wait (ready, lock); wait ()) else ()
val () = (
  Mutex.lock lock;
  List.app (fn part => ignore (Thread.fork (work part, []))) [0, 1, 2, 3];
  wait ();
  print (Int.toString (foldl op+ 0 (!sums)) ^ "\\n"))`,
  network: `fun main () =
  let
    val home = valOf (NetHostDB.fromString "127.0.0.1")
    val socket = INetSock.TCP.socket ()
  in
    Socket.connect (socket, INetSock.toAddr (home, 9))
  end
  handle OS.SysErr _ => print "closed\\n"
val () = main ()`,
  usual: `fun parse line =
  case String.tokens Char.isSpace line of
    [name, number] => SOME (name, valOf (Int.fromString number))
  | _ => NONE
fun compare ((a, x), (b, y)) =
  case Int.compare (x, y) of EQUAL => String.compare (a, b) | order => order
fun insert (row, []) = [row]
  | insert (row, first :: rest) =
      if compare (row, first) = LESS then row :: first :: rest else first :: insert (row, rest)
fun signed n = if n < 0 then "-" ^ Int.toString (~n) else Int.toString n
fun main () =
  let
    val lines = String.fields (fn c => c = #"\\n") (TextIO.inputAll TextIO.stdIn)
    val rows = List.mapPartial parse lines
    val sum = foldl (fn ((_, number), sum) => sum + number) 0 rows
    val mean = Real.fromInt sum / Real.fromInt (length rows)
  in
    app (fn (name, number) => print (name ^ ": " ^ signed number ^ "\\n")) (foldl insert [] rows);
    print ("mean: " ^ Real.fmt (StringCvt.FIX (SOME 2)) mean ^ "\\n")
  end
val () = main ()`,
  arguments: 'val () = app (fn word => print (word ^ "\\n")) (CommandLine.arguments ())',
  variable: 'val () = print (valOf (OS.Process.getEnv "GREETING") ^ "\\n")',
  secondFile: {
    code: 'use "answer.sml";\nval () = print (Int.toString (answer ()) ^ "\\n")',
    file: { name: 'answer.sml', content: 'fun answer () = 42\n' },
  },
}
