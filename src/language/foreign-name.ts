// Names of our languages in other services, beside our own names and aliases.
import type { Language } from './catalogue.ts'

type Names = Readonly<Record<string, Language>>

/** Names of Piston's packages. */
export const pistonNames: Names = {
  python3: 'python',
  'g++': 'cpp',
  gcc: 'c',
  'node-javascript': 'javascript',
  'node-js': 'javascript',
  mono: 'csharp',
  rscript: 'r',
}

/** Names of SandboxFusion's languages; those missing here run test frameworks or need a GPU. */
export const sandboxFusionNames: Names = { nodejs: 'javascript', sql: 'sqlite', d_ut: 'd' }

/** Ids of Judge0 CE: those of version 1.13, then those of later versions. Answers use the first id. */
export const judge0Ids: Readonly<Partial<Record<Language, readonly [number, ...number[]]>>> = {
  assembly: [45],
  bash: [46],
  c: [50, 49, 48, 103],
  clang: [75, 104, 110],
  clangpp: [76],
  clojure: [86],
  cobol: [77],
  commonlisp: [55],
  cpp: [54, 53, 52, 105],
  csharp: [51],
  d: [56],
  elixir: [57],
  erlang: [58],
  fortran: [59],
  go: [60, 95, 106, 107],
  gprolog: [69],
  groovy: [88],
  haskell: [61],
  java: [62, 91],
  javascript: [63, 93, 97, 102],
  kotlin: [78, 111],
  lua: [64],
  objectivec: [79],
  ocaml: [65],
  octave: [66],
  pascal: [67],
  perl: [85],
  php: [68, 98],
  python: [71, 92, 100, 109, 113],
  r: [80, 99],
  ruby: [72],
  rust: [73, 108],
  scala: [81, 112],
  sqlite: [82],
  typescript: [74, 94, 101],
}
