// Standard ML: Poly/ML, which compiles and runs one declaration after another.
import type { LanguageDefinition } from './definition.ts'

// Works like poly --script, but messages go to stderr, and strings may contain UTF-8, byte by byte. The program's arguments
// follow `-q --eval` and this script. Poly/ML itself takes arguments that are its own options, such as -v and -H, at any
// position.
const script = String.raw`
structure CommandLine: COMMAND_LINE = struct
  open CommandLine
  fun arguments () = List.drop (CommandLine.arguments (), 3)
end;
let
  val file = TextIO.openIn "main.sml"
  val line = ref 1
  val pending = ref []
  fun next () =
    case !pending of
      c :: rest => (pending := rest; SOME c)
    | [] =>
        case TextIO.input1 file of
          NONE => NONE
        | SOME c => (
            if c = #"\n" then line := !line + 1 else ();
            if c < #"\128" then SOME c
            else (pending := explode (Int.toString (ord c)); SOME #"\\"))
  fun say text = TextIO.output (TextIO.stdErr, text)
  val parameters = [
    PolyML.Compiler.CPOutStream say,
    PolyML.Compiler.CPFileName "main.sml",
    PolyML.Compiler.CPLineNo (fn () => !line)]
  fun run () =
    if TextIO.endOfStream file then () else (PolyML.compiler (next, parameters) (); run ())
in
  run ()
    handle problem => (
      case problem of
        Fail "Static Errors" => ()
      | _ => say ("uncaught exception " ^ exnMessage problem ^ "\n");
      OS.Process.exit OS.Process.failure);
  OS.Process.exit OS.Process.success : unit
end`

export const standardml = {
  title: 'Standard ML',
  aliases: ['sml', 'polyml'],
  extensions: ['.sml'],
  comment: ['(*', '*)'],
  packages: ['polyml'],
  tools: [
    {
      program: 'poly',
      title: 'Poly/ML',
      ask: ['-v'],
      pattern: /^Poly\/ML (\d+)\.(\d+)\S*/mu,
      oldest: [5, 7],
    },
  ],
  example: String.raw`val () = print "Hello, world!\n"`,
  trial: String.raw`val () = print (Int.toString (size (TextIO.inputAll TextIO.stdIn)) ^ "\n")`,
  recipe: {
    source: 'main.sml',
    run: ['poly', '-q', '--eval', script],
    typed: { run: ['poly', '--use', 'main.sml'] },
    usualStack: true,
  },
} as const satisfies LanguageDefinition
