// Attacks in further interpreted languages, in one table. Each reads files in its own way, while it loads or while it runs.
import { bash } from './bash.ts'
import { attackSources, exhausts, onePath, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'

const sayHeld = [...Buffer.from('\nheld\n')].map((byte) => `${'+'.repeat(byte)}.[-]`).join('')

const brainfuck = attackSources('brainfuck', [
  showsNone('words behind an exclamation mark show no file', (path) => `,[.,]${sayHeld}!${path}`),
  exhausts('a tape without end ends', '+[>+]'),
  exhausts(
    'loops in loops without end end',
    `${'['.repeat(200_000)}${']'.repeat(200_000)}${sayHeld}`,
    ['exited'],
  ),
])

const tcl = attackSources('tcl', [
  shows(
    'a channel shows no file',
    (path) =>
      `catch { puts [read [open ${path}]] }\ncatch { source ${path} } said\nputs $said\nputs held`,
  ),
])

const awk = attackSources('awk', [
  shows(
    'a line that is read shows no file',
    (path) =>
      `BEGIN { while ((getline line < "${path}") > 0) print line; while (("cat ${path} 2>&1" | getline line) > 0) print line; print "held" }`,
  ),
  showsNone('an include shows no file', (path) => `@include "${path}"\nBEGIN { print "held" }`),
  showsNone(
    'a library to be loaded shows no file',
    (path) => `@load "${path}"\nBEGIN { print "held" }`,
  ),
])

const r = attackSources('r', [
  shows(
    'a read shows no file',
    (path) =>
      `for (f in c(readLines, source)) tryCatch(print(f("${path}")), error = print)\nprint(Sys.getenv())\ncat("held\\n")`,
    onePath,
  ),
])

const octave = attackSources('octave', [
  shows(
    'a read shows no file',
    (path) =>
      `try disp(fileread("${path}")), catch e, disp(e.message), end\ntry source("${path}"), catch e, disp(e.message), end\ndisp("held")`,
    onePath,
  ),
])

const prolog = attackSources('prolog', [
  shows(
    'a directive shows no file',
    (path) =>
      `:- catch((read_file_to_string('${path}', S, []), write(S)), E, (print_message(informational, E))), nl, write(held), nl.`,
  ),
  showsNone('an include shows no file', (path) => `:- include('${path}').\n:- write(held), nl.`),
  showsNone(
    'a foreign library shows no file',
    (path) => `:- catch(use_foreign_library('${path}'), E, (write(E), nl)).\n:- write(held), nl.`,
  ),
])

const raku = attackSources('raku', [
  shows(
    'what runs as it is compiled shows no file',
    (path) => `BEGIN { say (try slurp "${path}") // "none" }\nsay "held"`,
    onePath,
  ),
])

const elixir = attackSources('elixir', [
  shows(
    'a macro shows no file as it expands',
    (path) =>
      `defmodule M do\n  @text File.read("${path}")\n  defmacro m, do: inspect(File.read("${path}"))\n  def text, do: @text\nend\ndefmodule N do\n  require M\n  def run, do: IO.puts(M.m())\nend\nIO.inspect(M.text())\nN.run()\nIO.puts("held")`,
    onePath,
  ),
])

const erlang = attackSources('erlang', [
  shows(
    'an include shows no file',
    (path) =>
      `-module(main).\n-export([main/0]).\n-include("${path}").\nmain() -> io:format("held~n").`,
    onePath,
  ),
  showsNone(
    'a parse transform shows no file',
    (path) =>
      `-module(main).\n-export([main/0]).\n-compile({parse_transform, '${path}'}).\nmain() -> io:format("held~n").`,
    onePath,
  ),
  shows(
    'a read shows no file',
    (path) =>
      `-module(main).\n-export([main/0]).\nmain() -> io:format("~p~nheld~n", [file:read_file("${path}")]).`,
    onePath,
  ),
])

const groovy = attackSources('groovy', [
  shows(
    'a read shows no file',
    (path) =>
      `try { println new File("${path}").text; evaluate(new File("${path}")) } catch (Throwable e) { println e }\nprintln System.getenv()\nprintln "held"`,
    onePath,
  ),
  showsNone(
    'a transformation of its tree shows no file',
    (path) =>
      `@groovy.transform.ASTTest(value = { println new File("${path}").with { it.exists() ? it.text : "none" } })\ndef x = 1\nprintln "held"`,
    onePath,
  ),
  showsNone(
    'a grape reaches nothing',
    () => `@Grab('org.example:nothing:1.0')\nimport java.util.List\nprintln "held"`,
    ['the network'],
  ),
])

const clojure = attackSources('clojure', [
  shows(
    'what its reader evaluates shows no file',
    (path) =>
      `(println #=(eval (try (slurp "${path}") (catch Exception e "none"))))\n(defmacro m [] (try (slurp "${path}") (catch Exception e "none")))\n(println (m))\n(println "held")`,
    onePath,
  ),
])

const haxe = attackSources('haxe', [
  shows(
    'a macro shows no file',
    (path) =>
      `class Main {\n  macro static function m() { return macro $v{try sys.io.File.getContent("${path}") catch (e:Dynamic) "none"}; }\n  static function main() { Sys.println(m()); Sys.println("held"); }\n}`,
  ),
  showsNone(
    'a resource shows no file',
    (path) =>
      `@:native("${path}") class Main {\n  @:file("${path}") static function main() { Sys.println("held"); }\n}`,
  ),
])

const scheme = attackSources('scheme', [
  shows(
    'a macro shows no file as it expands',
    (path) =>
      `(define-syntax m (lambda (x) (datum->syntax #'here (guard (e (#t "none")) (call-with-input-file "${path}" (lambda (p) (get-string-n p 4096)))))))\n(display (m))\n(newline)\n(display "held")\n(newline)`,
  ),
  showsNone(
    'a library of C shows no file',
    (path) =>
      `(guard (e (#t (display-condition e) (newline))) (load-shared-object "${path}"))\n(display "held")\n(newline)`,
  ),
])

const pike = attackSources('pike', [
  showsNone(
    'an include shows no file',
    (path) => `#include "${path}"\nint main() { write("held\\n"); return 0; }`,
  ),
  shows(
    'a read shows no file',
    (path) => `int main() { write("%O\\nheld\\n", Stdio.read_file("${path}")); return 0; }`,
  ),
])

const forth = attackSources('forth', [
  shows(
    'a read shows no file',
    (path) => `: show s" ${path}" slurp-file type ; ' show catch drop cr .( held) cr`,
  ),
  showsNone(
    'an include shows no file',
    (path) => `: show s" ${path}" included ; ' show catch drop cr .( held) cr`,
  ),
])

const sqlite = attackSources('sqlite', [
  shows(
    'functions and commands show no file',
    (path) =>
      `select cast(readfile('${path}') as text);\n.shell cat ${path} 2>&1; env\nselect 'held';`,
  ),
  showsNone(
    'a database at a path shows no file',
    (path) => `attach '${path}' as x;\nselect * from x.sqlite_master;\nselect 'held';`,
  ),
  showsNone(
    'an extension loads nothing',
    (path) => `.load ${path}\nselect load_extension('${path}');\nselect 'held';`,
  ),
])

const lua = attackSources('lua', [
  shows(
    'a read shows no file',
    (path) =>
      `local f = io.open('${path}') if f then print(f:read('a')) end\nprint(io.popen('cat ${path} 2>&1; env'):read('a'))\nprint(pcall(dofile, '${path}'))\nprint(package.loadlib('${path}', '*'))\nprint 'held'`,
  ),
])

const algol68 = attackSources('algol68', [
  showsNone(
    'an include shows no file',
    (path) => `PR read "${path}" PR\nBEGIN print(("held", new line)) END`,
  ),
])

const coffeescript = attackSources('coffeescript', [
  shows(
    'a read shows no file',
    (path) =>
      `try console.log require('fs').readFileSync('${path}', 'utf8') catch e then console.log e\ntry require '${path}' catch e then console.log e\nconsole.log 'held'`,
    onePath,
  ),
])

const pypy = attackSources('pypy', [
  shows(
    'a read shows no file',
    (path) =>
      `try: print(open('${path}').read())\nexcept OSError as error: print(error)\nimport os\nprint(os.environ)\nprint('held')`,
  ),
])

const zsh = attackSources('zsh', [
  shows('a redirection shows no file', (path) => `print -r -- "$(<${path})"\nenv\nprint held`),
  shows(
    'a module that maps files shows none',
    (path) => `zmodload zsh/mapfile\nprint -r -- "$mapfile[${path}]"\nprint held`,
  ),
  showsNone('a sourced file is not shown', (path) => `. ${path}\nprint held`),
])

export const loadedLanguages: readonly HostileLanguage[] = [
  bash,
  brainfuck,
  tcl,
  awk,
  r,
  octave,
  prolog,
  raku,
  elixir,
  erlang,
  groovy,
  clojure,
  haxe,
  scheme,
  pike,
  forth,
  sqlite,
  lua,
  algol68,
  coffeescript,
  pypy,
  zsh,
]
