// How each language is coloured: one small parser of its kind, fetched when its language is chosen. A language without one
// is shown plain.
import { StreamLanguage } from '@codemirror/language'
import type { StreamParser } from '@codemirror/language'
import type * as clikeModes from '@codemirror/legacy-modes/mode/clike'

type Parser = StreamParser<unknown>
type Load = () => Promise<Parser>

/** A parser's own state is its own affair. */
const load =
  <M>(fetchModule: () => Promise<M>, choose: (module: M) => unknown): Load =>
  async () =>
    choose(await fetchModule()) as Parser

const clike = (name: keyof typeof clikeModes): Load =>
  load(
    () => import('@codemirror/legacy-modes/mode/clike'),
    (module) => module[name],
  )
const javascript = load(
  () => import('@codemirror/legacy-modes/mode/javascript'),
  (module) => module.javascript,
)
const typescript = load(
  () => import('@codemirror/legacy-modes/mode/javascript'),
  (module) => module.typescript,
)
const python = load(
  () => import('@codemirror/legacy-modes/mode/python'),
  (module) => module.python,
)
const shell = load(
  () => import('@codemirror/legacy-modes/mode/shell'),
  (module) => module.shell,
)
const lua = load(
  () => import('@codemirror/legacy-modes/mode/lua'),
  (module) => module.lua,
)
const scheme = load(
  () => import('@codemirror/legacy-modes/mode/scheme'),
  (module) => module.scheme,
)
const ruby = load(
  () => import('@codemirror/legacy-modes/mode/ruby'),
  (module) => module.ruby,
)
const perl = load(
  () => import('@codemirror/legacy-modes/mode/perl'),
  (module) => module.perl,
)

const modes: Readonly<Record<string, Load>> = {
  assembly: load(
    () => import('@codemirror/legacy-modes/mode/gas'),
    (module) => module.gas,
  ),
  bash: shell,
  c: clike('c'),
  chicken: scheme,
  clang: clike('c'),
  clangpp: clike('cpp'),
  clojure: load(
    () => import('@codemirror/legacy-modes/mode/clojure'),
    (module) => module.clojure,
  ),
  cobol: load(
    () => import('@codemirror/legacy-modes/mode/cobol'),
    (module) => module.cobol,
  ),
  coffeescript: load(
    () => import('@codemirror/legacy-modes/mode/coffeescript'),
    (module) => module.coffeeScript,
  ),
  commonlisp: load(
    () => import('@codemirror/legacy-modes/mode/commonlisp'),
    (module) => module.commonLisp,
  ),
  cpp: clike('cpp'),
  crystal: load(
    () => import('@codemirror/legacy-modes/mode/crystal'),
    (module) => module.crystal,
  ),
  csharp: clike('csharp'),
  d: load(
    () => import('@codemirror/legacy-modes/mode/d'),
    (module) => module.d,
  ),
  elixir: ruby,
  erlang: load(
    () => import('@codemirror/legacy-modes/mode/erlang'),
    (module) => module.erlang,
  ),
  forth: load(
    () => import('@codemirror/legacy-modes/mode/forth'),
    (module) => module.forth,
  ),
  fortran: load(
    () => import('@codemirror/legacy-modes/mode/fortran'),
    (module) => module.fortran,
  ),
  go: load(
    () => import('@codemirror/legacy-modes/mode/go'),
    (module) => module.go,
  ),
  groovy: load(
    () => import('@codemirror/legacy-modes/mode/groovy'),
    (module) => module.groovy,
  ),
  guile: scheme,
  haskell: load(
    () => import('@codemirror/legacy-modes/mode/haskell'),
    (module) => module.haskell,
  ),
  haxe: load(
    () => import('@codemirror/legacy-modes/mode/haxe'),
    (module) => module.haxe,
  ),
  java: clike('java'),
  javascript,
  kotlin: clike('kotlin'),
  lua,
  luajit: lua,
  ocaml: load(
    () => import('@codemirror/legacy-modes/mode/mllike'),
    (module) => module.oCaml,
  ),
  octave: load(
    () => import('@codemirror/legacy-modes/mode/octave'),
    (module) => module.octave,
  ),
  pascal: load(
    () => import('@codemirror/legacy-modes/mode/pascal'),
    (module) => module.pascal,
  ),
  perl,
  php: clike('java'),
  pypy: python,
  python,
  r: load(
    () => import('@codemirror/legacy-modes/mode/r'),
    (module) => module.r,
  ),
  racket: scheme,
  raku: perl,
  ruby,
  rust: load(
    () => import('@codemirror/legacy-modes/mode/rust'),
    (module) => module.rust,
  ),
  scala: clike('scala'),
  scheme,
  sqlite: load(
    () => import('@codemirror/legacy-modes/mode/sql'),
    (module) => module.sqlite,
  ),
  standardml: load(
    () => import('@codemirror/legacy-modes/mode/mllike'),
    (module) => module.sml,
  ),
  tcl: load(
    () => import('@codemirror/legacy-modes/mode/tcl'),
    (module) => module.tcl,
  ),
  typescript,
  vala: clike('csharp'),
  verilog: load(
    () => import('@codemirror/legacy-modes/mode/verilog'),
    (module) => module.verilog,
  ),
  zsh: shell,
}

/** Null for a language without one, or when it cannot be fetched: then the code is plain. */
export async function loadMode(language: string): Promise<StreamLanguage<unknown> | null> {
  const mode = Object.hasOwn(modes, language) ? modes[language] : undefined
  if (mode === undefined) return null
  return mode().then(
    (parser) => StreamLanguage.define(parser),
    () => null,
  )
}
