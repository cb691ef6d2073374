// OCaml's programs.
import type { Programs } from './program.ts'

export const ocaml: Programs = {
  sum: `let () =
  let a = read_int () in
  let b = read_int () in
  Printf.printf "%d\\n" (a + b)`,
  copy: `let () =
  try
    while true do
      print_endline (input_line stdin)
    done
  with End_of_file -> ()`,
  unicode: 'let () =\n  print_endline "Grüße, 世界 🎉";\n  print_endline (read_line ())',
  exitThree: 'let () =\n  print_string "out";\n  prerr_string "err";\n  exit 3',
  uncaught: {
    code: 'let f _ = failwith "no such thing"\nlet () = f 1',
    says: /Fatal error: exception Failure\("no such thing"\)/,
  },
  broken: {
    code: 'let a = 1\nlet b = 2\nlet c = a + "b"\n',
    says: /File "main\.ml", line 3, characters 12-15:/,
  },
  busyLoop: 'let () = while true do () done',
  sleeper: 'let () = Unix.sleep 60',
  memoryBomb: `let rec grow kept = grow (Bytes.make 1_000_000 'x' :: kept)
let () = grow []`,
  outputFlood: "let () = while true do print_endline (String.make 100 'x') done",
  scratch: `let () =
  let out = open_out "/tmp/file" in
  output_string out "kept\\n";
  close_out out;
  let file = open_in "/tmp/file" in
  print_endline (input_line file);
  close_in file`,
  threads: `let sums = Array.make 4 0

let add part =
  for n = (part * 250) + 1 to (part * 250) + 250 do
    sums.(part) <- sums.(part) + n
  done

let () =
  let threads = List.init 4 (Thread.create add) in
  List.iter Thread.join threads;
  Printf.printf "%d\\n" (Array.fold_left ( + ) 0 sums)`,
  network: `let () =
  try
    let s = Unix.socket Unix.PF_INET Unix.SOCK_STREAM 0 in
    Unix.connect s (Unix.ADDR_INET (Unix.inet_addr_loopback, 9))
  with Unix.Unix_error _ -> print_endline "closed"`,
  usual: `module Names = Map.Make (Int)

let row = Str.regexp {|^\\([a-z]+\\) +\\(-?[0-9]+\\)$|}

let rec read rows =
  match input_line stdin with
  | line when Str.string_match row line 0 ->
      let name = Str.matched_group 1 line in
      let number = int_of_string (Str.matched_group 2 line) in
      let others = Option.value ~default:[] (Names.find_opt number rows) in
      read (Names.add number (name :: others) rows)
  | _ -> read rows
  | exception End_of_file -> rows

let () =
  let rows = read Names.empty in
  let count = ref 0 and sum = ref 0 in
  Names.iter
    (fun number names ->
      List.iter
        (fun name ->
          incr count;
          sum := !sum + number;
          Printf.printf "%s: %d\\n" name number)
        (List.sort compare names))
    rows;
  Printf.printf "mean: %.2f\\n" (float_of_int !sum /. float_of_int !count)`,
  arguments: 'let () = Array.iteri (fun n word -> if n > 0 then print_endline word) Sys.argv',
  variable: 'let () = print_endline (Sys.getenv "GREETING")',
  secondFile: {
    code: 'let () = Printf.printf "%d\\n" (Answer.get ())',
    file: { name: 'answer.ml', content: 'let get () = 42\n' },
  },
  compileArguments: {
    words: ['-noassert'],
    code: 'let () =\n  assert (1 = 2);\n  print_endline "42"',
  },
}
