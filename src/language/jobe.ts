// What Jobe, which Moodle's CodeRunner calls, does by language.
import type { Language } from './catalogue.ts'

type ByLanguage<Value> = Readonly<Partial<Record<Language, Value>>>

export const jobe = {
  /** Its names beside ours. */
  names: { python3: 'python', nodejs: 'javascript' } as Readonly<Record<string, Language>>,
  /** What its compilers get: in any case, as ours optimise, which finds other mistakes; and when a request says nothing. */
  compileArguments: {
    c: { always: ['-O0'], usual: ['-Wall', '-Werror', '-std=c99'] },
    cpp: { always: ['-O0'], usual: ['-Wall', '-Werror'] },
  } as ByLanguage<{ readonly always: readonly string[]; readonly usual: readonly string[] }>,
  /** What an interpreter may be asked for, as it changes no result here: most of it Jobe says by itself. */
  interpreterArguments: {
    python: /^-[BEIsu]+$/,
    java: /^-X(?:rs|(?:ss|ms|mx)\d+[kKmMgG]?)$/,
    javascript: /^--use[_-]strict$/,
    php: /^(?:--no-php-ini|-n)$/,
    octave: /^(?:-H|--norc|--no-window-system|--silent)$/,
  } as ByLanguage<RegExp>,
  /** Limits of memory and processes do not go below the usual ones, as the runtime needs much of both. */
  keepsUsual: ['java'] as readonly Language[],
  /** It looks at a program before it runs it: so begins stderr of one that would not have been run. */
  syntaxErrors: {
    python: /^ +File "/,
    php: /^(?:PHP )?Parse error:/,
  } as ByLanguage<RegExp>,
} as const
