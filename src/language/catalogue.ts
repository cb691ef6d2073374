// All languages, a line each, and what follows from their definitions.
import * as v from 'valibot'
import { ada } from './ada.ts'
import { algol68 } from './algol68.ts'
import { assembly } from './assembly.ts'
import { awk } from './awk.ts'
import { bash } from './bash.ts'
import { brainfuck } from './brainfuck.ts'
import { c } from './c.ts'
import { chicken } from './chicken.ts'
import { clang } from './clang.ts'
import { clangpp } from './clangpp.ts'
import { clojure } from './clojure.ts'
import { cobol } from './cobol.ts'
import { coffeescript } from './coffeescript.ts'
import { commonlisp } from './commonlisp.ts'
import { cpp } from './cpp.ts'
import { crystal } from './crystal.ts'
import { csharp } from './csharp.ts'
import { d } from './d.ts'
import type { LanguageDefinition } from './definition.ts'
import { elixir } from './elixir.ts'
import { erlang } from './erlang.ts'
import { forth } from './forth.ts'
import { fortran } from './fortran.ts'
import { go } from './go.ts'
import { gprolog } from './gprolog.ts'
import { groovy } from './groovy.ts'
import { guile } from './guile.ts'
import { haskell } from './haskell.ts'
import { haxe } from './haxe.ts'
import { icon } from './icon.ts'
import { java } from './java.ts'
import { javascript } from './javascript.ts'
import { kotlin } from './kotlin.ts'
import type { Limits } from './limits.ts'
import { lua } from './lua.ts'
import { luajit } from './luajit.ts'
import { nim } from './nim.ts'
import { objectivec } from './objectivec.ts'
import { ocaml } from './ocaml.ts'
import { octave } from './octave.ts'
import { pascal } from './pascal.ts'
import { perl } from './perl.ts'
import { php } from './php.ts'
import { pike } from './pike.ts'
import { prolog } from './prolog.ts'
import { pypy } from './pypy.ts'
import { python } from './python.ts'
import { r } from './r.ts'
import { racket } from './racket.ts'
import { raku } from './raku.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'
import { scala } from './scala.ts'
import { scheme } from './scheme.ts'
import { sqlite } from './sqlite.ts'
import { standardml } from './standardml.ts'
import { tcl } from './tcl.ts'
import { typescript } from './typescript.ts'
import { vala } from './vala.ts'
import { verilog } from './verilog.ts'
import { zsh } from './zsh.ts'

const definitions = [
  python,
  cpp,
  java,
  javascript,
  typescript,
  ada,
  algol68,
  assembly,
  awk,
  bash,
  brainfuck,
  c,
  chicken,
  clang,
  clangpp,
  clojure,
  cobol,
  coffeescript,
  commonlisp,
  crystal,
  csharp,
  d,
  elixir,
  erlang,
  forth,
  fortran,
  go,
  gprolog,
  groovy,
  guile,
  haskell,
  haxe,
  icon,
  kotlin,
  lua,
  luajit,
  nim,
  objectivec,
  ocaml,
  octave,
  pascal,
  perl,
  php,
  pike,
  prolog,
  pypy,
  r,
  racket,
  raku,
  ruby,
  rust,
  scala,
  scheme,
  sqlite,
  standardml,
  tcl,
  vala,
  verilog,
  zsh,
] as const

export type Language = (typeof definitions)[number]['name']

/** Canonical names; aliases are resolved as soon as a request is read. */
export const languages: readonly Language[] = definitions.map(({ name }) => name)

type Merge<Union> = (Union extends unknown ? (part: Union) => void : never) extends (
  whole: infer Whole,
) => void
  ? Whole
  : never

type SettingEntries = Merge<(typeof definitions)[number]['settings']>

export type LanguageSettings = v.InferOutput<v.ObjectSchema<SettingEntries, undefined>>

/** All languages' own variables in a worker's environment. */
export const settingEntries: SettingEntries = Object.assign(
  {},
  ...definitions.map(({ settings }) => settings),
)

/** Without any variable set. */
export const defaultSettings: LanguageSettings = v.parse(v.object(settingEntries), {})

export const catalogue: Readonly<Record<Language, LanguageDefinition>> = mapLanguages(
  (definition) => definition,
)

/** Used when an operator sets none. */
export const defaultLimits: Readonly<Record<Language, Limits>> = mapLanguages(
  ({ limits }) => limits,
)

/** Canonical names by names and aliases. */
export const languagesByName = indexLanguages(({ name, aliases }) => [name, ...aliases])

/** Canonical names by file extension. */
export const languagesByExtension = indexLanguages(({ extensions }) => extensions)

/** By any of its names, in upper or lower case, as operators write them. */
export function findLanguage(name: string): Language | undefined {
  return languagesByName[name.toLowerCase()]
}

export function mapLanguages<T>(
  value: (definition: LanguageDefinition & { readonly name: Language }) => T,
): Record<Language, T> {
  const entries = definitions.map((definition) => [definition.name, value(definition)])
  return Object.fromEntries(entries) as Record<Language, T>
}

function indexLanguages(
  keys: (definition: LanguageDefinition) => readonly string[],
): Readonly<Record<string, Language>> {
  const entries = definitions.flatMap((definition) =>
    keys(definition).map((key) => [key, definition.name]),
  )
  // Without a prototype, whose `constructor` is no language.
  return { __proto__: null, ...Object.fromEntries(entries) } as Record<string, Language>
}
