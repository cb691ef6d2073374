// Language-specific behaviour of Jobe, the service that Moodle's CodeRunner calls.
import type { Language } from './catalogue.ts'

type ByLanguage<Value> = Readonly<Partial<Record<Language, Value>>>

export const jobe = {
  /** Jobe's names of languages, beside ours. */
  names: { python3: 'python', nodejs: 'javascript' } as Readonly<Record<string, Language>>,
  /**
   * Compiler arguments. `always` is added to every request, because our compilers optimise by default and then report other
   * mistakes. `usual` is used when the request has no arguments.
   */
  compileArguments: {
    c: { always: ['-O0'], usual: ['-Wall', '-Werror', '-std=c99'] },
    cpp: { always: ['-O0'], usual: ['-Wall', '-Werror'] },
  } as ByLanguage<{ readonly always: readonly string[]; readonly usual: readonly string[] }>,
  /**
   * Interpreter arguments that are accepted and ignored, because they change no result here; most of them are Jobe's defaults.
   */
  interpreterArguments: {
    python: /^-[BEIsu]+$/,
    java: /^-X(?:rs|(?:ss|ms|mx)\d+[kKmMgG]?)$/,
    javascript: /^--use[_-]strict$/,
    php: /^(?:--no-php-ini|-n)$/,
    octave: /^(?:-H|--norc|--no-window-system|--silent)$/,
  } as ByLanguage<RegExp>,
  /** Languages whose memory and process limits do not go below the usual ones, because the runtime needs much of both. */
  keepsUsual: ['java'] as readonly Language[],
  /** Jobe checks the syntax before it runs a program. These patterns match stderr of a program that fails that check. */
  syntaxErrors: {
    python: /^ +File "/,
    php: /^(?:PHP )?Parse error:/,
  } as ByLanguage<RegExp>,
} as const
