// The attacks in all languages other than Python, C++ and Java.
import { defaultLimits, languages } from '#language'
import type { Attack } from '../attack.ts'
import { c, clang } from './c.ts'
import { compiledLanguages } from './compiled.ts'
import { csharp } from './csharp.ts'
import { d } from './d.ts'
import { go } from './go.ts'
import { haskell } from './haskell.ts'
import { javascript, typescript } from './javascript.ts'
import { kotlin, scala } from './kotlin.ts'
import { commonlisp, guile, racket } from './lisp.ts'
import { loadedLanguages } from './loaded.ts'
import { luajit } from './luajit.ts'
import { nim } from './nim.ts'
import { ocaml } from './ocaml.ts'
import { pascal } from './pascal.ts'
import { perl } from './perl.ts'
import { php } from './php.ts'
import { ruby } from './ruby.ts'
import { rust } from './rust.ts'
import { listRows } from './ways.ts'

/** Languages that have a compiler. */
const compiled = new Set(languages.filter((name) => defaultLimits[name].compile !== null))

// The slowest compilers come first, because each group of attacks waits for its slowest member.
const hostile = [
  [kotlin, scala, haskell, nim, rust, d, go, ocaml, pascal, csharp, c, clang],
  compiledLanguages,
  loadedLanguages,
  [javascript, typescript, commonlisp, racket, guile, ruby, php, perl, luajit],
].flat()

/** Every attack in these languages. */
export const languageAttacks: readonly Attack[] = listRows(hostile, compiled)
