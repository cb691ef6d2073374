// Java: a JDK, 11 or newer.
import type { LanguageDefinition } from './definition.ts'
import { mebibyte, usualCompile, usualRun } from './limits.ts'

export const java = {
  name: 'java',
  aliases: [],
  extensions: ['.java'],
  lineComment: '//',
  limits: {
    // Every class file is read by the worker, on its event loop.
    compile: { ...usualCompile, stdoutBytes: 8 * mebibyte },
    // A JVM needs more memory, and some twenty threads of its own.
    run: { ...usualRun, memoryBytes: 512 * mebibyte, processes: 256 },
  },
  trial:
    'class Main { public static void main(String[] a) throws Exception { System.out.println(System.in.readAllBytes().length); } }',
} as const satisfies LanguageDefinition
