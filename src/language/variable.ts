// Environment variables that no request may set, because they control how a loader, a shell or a runtime starts.
import { words } from './words.ts'

/** The refused variables with the reasons: exact names, and prefixes, which end in `*`. */
const refused: readonly (readonly [why: string, names: readonly string[]])[] = [
  ['is set by the service', words('PATH HOME USER LOGNAME PWD LANG LC_ALL')],
  [
    'is what the loader or the C library is started with',
    // The variables that glibc ignores in programs with more rights than their caller.
    words(`LD_* GLIBC_* GCONV_PATH GETCONF_DIR HOSTALIASES LOCALDOMAIN LOCPATH MALLOC_* NIS_PATH NLSPATH
      RESOLV_* RES_OPTIONS TMPDIR TZDIR`),
  ],
  [
    'is what a shell is started with',
    // Not ENV: only interactive shells read it, and applications use it for their stage.
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

/** Variables of applications whose names begin like those of a runtime. */
const allowed: ReadonlySet<string> = new Set(['NODE_ENV'])

/** Returns the reason why a program's variable cannot have this name; null when it can. */
export function refuseVariable(name: string): string | null {
  if (allowed.has(name)) return null
  const group = refused.find(([, names]) => names.some((one) => matches(one, name)))
  return group === undefined ? null : `cannot be set: it ${group[0]}`
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name
}
