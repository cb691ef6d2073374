// Names by which other services call our languages, beside our own names and aliases.
import type { Language } from './catalogue.ts'

type Names = Readonly<Record<string, Language>>

/** Packages of Piston. */
export const pistonNames: Names = {
  python3: 'python',
  'g++': 'cpp',
  gcc: 'c',
  'node-javascript': 'javascript',
  'node-js': 'javascript',
  mono: 'csharp',
  rscript: 'r',
}

/** Languages of SandboxFusion; its others run test frameworks or need a GPU. */
export const sandboxFusionNames: Names = { nodejs: 'javascript', sql: 'sqlite', d_ut: 'd' }

/** Ids of Judge0 CE, the one that answers name first: those of 1.13, then of later ones. */
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
