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
