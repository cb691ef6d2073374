// Attacks in OCaml, and through ocamlopt.
import { boxPaths, exhausts, hostPaths, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWayWithoutThreads } from './ways.ts'

const raw = String.raw
const list = (words: readonly string[]): string => words.map((word) => `"${word}"`).join('; ')

const program = raw`
let quietly f = try f () with Unix.Unix_error _ | Sys_error _ | Failure _ | End_of_file -> ()
let refused what f =
  match f () with
  | _ -> print_endline ("ESCAPED " ^ what)
  | exception Unix.Unix_error (EINVAL, ("setuid" | "setgid"), _) -> ()
  | exception Unix.Unix_error ((EPERM | ESRCH | EACCES | ENOSYS | EAFNOSUPPORT | EPROTONOSUPPORT | ENOENT), _, _) -> ()
  | exception Unix.Unix_error (code, _, _) -> print_endline ("UNSURE " ^ what ^ ": " ^ Unix.error_message code)
let () =
  if Sys.file_exists "/etc/debian_version" then (print_endline "ESCAPED there is no box"; exit 1);
  let block = Bytes.make 65536 'x' in
  (match read_line () with
  | "files" ->
    List.iter (fun path -> quietly (fun () -> ignore (open_in path); print_endline ("ESCAPED " ^ path))) [${list(hostPaths)}];
    List.iter (fun path -> quietly (fun () -> let file = open_in_bin path in while true do print_endline (input_line file) done)) [${list(boxPaths)}]
  | "calls" ->
    refused "socket" (fun () -> ignore (Unix.socket PF_INET SOCK_STREAM 0));
    refused "datagrams" (fun () -> ignore (Unix.socket PF_INET6 SOCK_DGRAM 0));
    refused "setuid" (fun () -> Unix.setuid 0);
    refused "setgid" (fun () -> Unix.setgid 0);
    refused "setgroups" (fun () -> Unix.setgroups [| 0 |]);
    refused "chroot" (fun () -> Unix.chroot "/tmp");
    refused "kill" (fun () -> Unix.kill @WORKER_PID@ 0);
    refused "nice" (fun () -> Unix.nice (-5));
    refused "a socket of the host's" (fun () -> Unix.connect (Unix.socket PF_UNIX SOCK_STREAM 0) (ADDR_UNIX "@SOCKET@"))
  | "daemon" ->
    if Unix.fork () = 0 then (ignore (Unix.setsid ()); if Unix.fork () > 0 then Unix._exit 0; while true do Unix.sleep 600 done);
    Unix.sleepf 0.05
  | "disk" ->
    let file = Unix.openfile "/tmp/fill" [O_WRONLY; O_CREAT] 0o600 in
    let written = ref 0 in
    quietly (fun () -> while !written < 64 lsl 20 do written := !written + Unix.write file block 0 65536 done);
    if !written > 32 lsl 20 then print_endline "ESCAPED the disk"
  | "output" -> while true do print_string (Bytes.to_string block) done
  | "memory" -> let held = ref [] in while true do held := Bytes.make 1048576 'x' :: !held done
  | "processes" -> while true do quietly (fun () -> ignore (Unix.fork ())) done
  | _ -> exit 9);
  print_endline "held"`

const main = '\nlet () = print_endline "held"'

export const ocaml: HostileLanguage = {
  language: 'ocaml',
  program,
  ways: { ...everyWayWithoutThreads, memory: ['crashed'] },
  sources: [
    showsNone('a line marker shows no file', (path) => `# 1 "${path}"\nlet x = undeclared`),
    showsNone('a directive shows no file', (path) => `#use "${path}";;${main}`),
    showsNone(
      'a module of a path shows no file',
      (path) => `#directory "${path}";;\n[@@@ocaml.ppx "cat ${path}"]\nopen Secret${main}`,
    ),
    showsNone(
      'an external name in the assembler shows no file',
      (path) => `external f : int -> int = "f\\n.incbin \\"${path}\\""\nlet () = print_int (f 1)`,
    ),
    exhausts(
      'types that double end',
      `let f = fun x -> (x, x)${Array.from({ length: 30 }, (_, i) => `\nlet f${i} = fun x -> ${i ? `f${i - 1}` : 'f'} (${i ? `f${i - 1}` : 'f'} x)`).join('')}${main}`,
    ),
    exhausts(
      'patterns that multiply end',
      `type t = A | B | C | D\nlet f = function\n${Array.from({ length: 14 }, (_, i) => `| (${Array.from({ length: 14 }, (_, k) => (k === i ? '(A | B)' : k === 13 - i ? '(C | D)' : '_')).join(', ')}) -> ${i}`).join('\n')}${main}`,
      ['exited'],
    ),
  ],
}
