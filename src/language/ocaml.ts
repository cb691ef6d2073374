// OCaml: its native compiler, with the libraries unix, threads and str.
import type { LanguageDefinition } from './definition.ts'
import { words } from './words.ts'

export const ocaml = {
  title: 'OCaml',
  aliases: ['ml'],
  extensions: ['.ml'],
  comment: ['(*', '*)'],
  packages: ['ocaml-nox'],
  tools: [
    { program: 'ocamlopt', ask: ['-version'], pattern: /^(\d+)\.(\d+)\S*/mu, oldest: [4, 8] },
  ],
  example: 'let () = print_endline "Hello, world!"',
  trial: String.raw`let () =
  let n = ref 0 in
  (try while true do ignore (input_char stdin); incr n done with End_of_file -> ());
  Printf.printf "%d\n" !n`,
  recipe: {
    source: 'main.ml',
    compile: {
      commands: [
        words(
          'ocamlopt -I +unix -I +threads -I +str -o main unix.cmxa threads.cmxa str.cmxa main.ml',
        ),
      ],
      makes: 'main',
      together: ['.mli', '.ml'],
    },
    run: ['./main'],
  },
} as const satisfies LanguageDefinition
