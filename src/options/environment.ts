// The program's own variables: which names a request may set. A program can set any for itself: what is refused would change
// how it is loaded and started, so that another program would run than the one that was submitted.
import * as v from 'valibot'
import { byteLength, wellFormedTextWithoutNul } from './text.ts'

const variablesMost = 64
const bytesMost = 16 * 1024

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Why, and which: exact names, and beginnings, which end in `*`. */
const refused: readonly (readonly [why: string, names: readonly string[]])[] = [
  ['is set by the service', words('PATH HOME USER LOGNAME PWD LANG LC_ALL')],
  [
    'is what the loader or the C library is started with',
    // Those that glibc drops for programs with more rights than their caller.
    words(`LD_* GLIBC_* GCONV_PATH GETCONF_DIR HOSTALIASES LOCALDOMAIN LOCPATH MALLOC_* NIS_PATH NLSPATH
      RESOLV_* RES_OPTIONS TMPDIR TZDIR`),
  ],
  [
    'is what a shell is started with',
    // Not ENV, which interactive ones alone read, and applications call their stage.
    words('BASH BASH_* BASHOPTS CDPATH FPATH GLOBIGNORE IFS PS4 SHELLOPTS ZDOTDIR'),
  ],
  [
    'is what a runtime is started with',
    words(`PYTHON* PYPY* NODE_* JAVA* _JAVA_* JDK_* CLASSPATH KOTLIN_* SCALA_* GROOVY_* CLOJURE_*
      PERL* RAKU* RUBY* GEM_* BUNDLE_* LUA_* PHP* R_* GHCRTS* ERL_* ELIXIR_* MIX_* MONO_* DOTNET_* COMPlus_*
      CORECLR_* GODEBUG GOFLAGS GOGC GOMAXPROCS GOMEMLIMIT GOPATH GOROOT GOTRACEBACK GUILE_* GC_* OCAMLRUNPARAM
      CAMLRUNPARAM OCTAVE_* PLT* SWIPL* SBCL_* TCL* AWK* GAWK* PIKE_* HAXE_* NEKOPATH COB_* CRYSTAL_* CHICKEN_* GFORTH*`),
  ],
]

/** An application's own, though it begins as a runtime's. */
const allowed: ReadonlySet<string> = new Set(['NODE_ENV'])

/** JSON readers lose these, here and elsewhere. */
const lost = ['__proto__', 'constructor', 'prototype']

/** Why a program's variable cannot have this name; null when it can. */
function refuse(name: string): string | null {
  if (allowed.has(name)) return null
  const group = refused.find(([, names]) => names.some((one) => matches(one, name)))
  return group === undefined ? null : `cannot be set: it ${group[0]}`
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}

const variableName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name: letters, digits and _, no digit first'),
  v.check(
    (name) => refuse(name) === null,
    ({ input }) => refuse(input) ?? '',
  ),
)

const countBytes = (variables: Readonly<Record<string, string>>): number =>
  Object.entries(variables)
    .flat()
    .reduce((sum, text) => sum + byteLength(text), 0)

/** An object of strings, not looked at when it has too many. */
export const environment = v.pipe(
  v.unknown(),
  v.check((value) => typeof value === 'object' && !Array.isArray(value), 'must be an object'),
  v.check(
    (value) => Object.keys(value ?? {}).length <= variablesMost,
    `holds more than ${variablesMost} variables`,
  ),
  v.check(
    (value) => lost.every((name) => !Object.hasOwn(value ?? {}, name)),
    `cannot hold ${lost.join(', ')}`,
  ),
  v.record(variableName, wellFormedTextWithoutNul, 'must be an object'),
  v.check((all) => countBytes(all) <= bytesMost, `is larger than ${bytesMost} bytes in all`),
  v.metadata({ maxProperties: variablesMost }),
)
