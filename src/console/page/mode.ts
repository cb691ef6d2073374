// Syntax colouring: one small parser for each language, fetched when the language is chosen. A language without a parser is
// shown plain.
import { StreamLanguage } from '@codemirror/language'
import type { StreamParser } from '@codemirror/language'

const files = {
  brainfuck: () => import('@codemirror/legacy-modes/mode/brainfuck'),
  clike: () => import('@codemirror/legacy-modes/mode/clike'),
  clojure: () => import('@codemirror/legacy-modes/mode/clojure'),
  cobol: () => import('@codemirror/legacy-modes/mode/cobol'),
  coffeescript: () => import('@codemirror/legacy-modes/mode/coffeescript'),
  commonlisp: () => import('@codemirror/legacy-modes/mode/commonlisp'),
  crystal: () => import('@codemirror/legacy-modes/mode/crystal'),
  d: () => import('@codemirror/legacy-modes/mode/d'),
  erlang: () => import('@codemirror/legacy-modes/mode/erlang'),
  forth: () => import('@codemirror/legacy-modes/mode/forth'),
  fortran: () => import('@codemirror/legacy-modes/mode/fortran'),
  gas: () => import('@codemirror/legacy-modes/mode/gas'),
  go: () => import('@codemirror/legacy-modes/mode/go'),
  groovy: () => import('@codemirror/legacy-modes/mode/groovy'),
  haskell: () => import('@codemirror/legacy-modes/mode/haskell'),
  haxe: () => import('@codemirror/legacy-modes/mode/haxe'),
  javascript: () => import('@codemirror/legacy-modes/mode/javascript'),
  lua: () => import('@codemirror/legacy-modes/mode/lua'),
  mllike: () => import('@codemirror/legacy-modes/mode/mllike'),
  octave: () => import('@codemirror/legacy-modes/mode/octave'),
  pascal: () => import('@codemirror/legacy-modes/mode/pascal'),
  perl: () => import('@codemirror/legacy-modes/mode/perl'),
  python: () => import('@codemirror/legacy-modes/mode/python'),
  r: () => import('@codemirror/legacy-modes/mode/r'),
  ruby: () => import('@codemirror/legacy-modes/mode/ruby'),
  rust: () => import('@codemirror/legacy-modes/mode/rust'),
  scheme: () => import('@codemirror/legacy-modes/mode/scheme'),
  shell: () => import('@codemirror/legacy-modes/mode/shell'),
  sql: () => import('@codemirror/legacy-modes/mode/sql'),
  tcl: () => import('@codemirror/legacy-modes/mode/tcl'),
  verilog: () => import('@codemirror/legacy-modes/mode/verilog'),
} as const

/** The file and the parser of each language whose name is not the name of both. */
const modes: Readonly<Record<string, readonly [file: keyof typeof files, parser: string]>> = {
  assembly: ['gas', 'gas'],
  bash: ['shell', 'shell'],
  c: ['clike', 'c'],
  chicken: ['scheme', 'scheme'],
  clang: ['clike', 'c'],
  clangpp: ['clike', 'cpp'],
  coffeescript: ['coffeescript', 'coffeeScript'],
  commonlisp: ['commonlisp', 'commonLisp'],
  cpp: ['clike', 'cpp'],
  csharp: ['clike', 'csharp'],
  elixir: ['ruby', 'ruby'],
  guile: ['scheme', 'scheme'],
  java: ['clike', 'java'],
  kotlin: ['clike', 'kotlin'],
  luajit: ['lua', 'lua'],
  objectivec: ['clike', 'objectiveC'],
  ocaml: ['mllike', 'oCaml'],
  php: ['clike', 'java'],
  pypy: ['python', 'python'],
  racket: ['scheme', 'scheme'],
  raku: ['perl', 'perl'],
  scala: ['clike', 'scala'],
  sqlite: ['sql', 'sqlite'],
  standardml: ['mllike', 'sml'],
  typescript: ['javascript', 'typescript'],
  vala: ['clike', 'csharp'],
  zsh: ['shell', 'shell'],
}

/** Loads a language's parser; null when it has none or when it cannot be fetched, and then the code is shown plain. */
export async function loadMode(language: string): Promise<StreamLanguage<unknown> | null> {
  const other = Object.hasOwn(modes, language) ? modes[language] : undefined
  const [file, name] = other ?? [language, language]
  if (!Object.hasOwn(files, file)) return null
  const load = files[file as keyof typeof files]
  // The type of the state is unknown, because each parser has its own.
  const module = (await load().catch(() => null)) as Record<string, StreamParser<unknown>> | null
  const parser = module?.[name]
  return parser === undefined ? null : StreamLanguage.define(parser)
}
