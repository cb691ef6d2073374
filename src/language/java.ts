// Java: a JDK, 11 or newer.
import type { LanguageDefinition } from './definition.ts'
import { mebibyte, usualCompile, virtualMachineRun } from './limits.ts'

export const java = {
  title: 'Java',
  extensions: ['.java'],
  comment: ['//', ''],
  packages: ['default-jdk-headless'],
  tools: [
    {
      program: 'javac',
      ask: ['-version'],
      pattern: /^javac (\d+)(?:\.(\d+))?\S*/mu,
      oldest: [11, 0],
    },
    {
      program: 'java',
      ask: ['-version'],
      pattern: /^\w+ version "(\d+)(?:\.(\d+))?\S*/mu,
      oldest: [11, 0],
    },
  ],
  limits: {
    // A larger program would not fit into the heap of a resident javac.
    compile: { ...usualCompile, stdoutBytes: 8 * mebibyte },
    run: virtualMachineRun,
  },
  least: { processes: 16 },
  example: `class Main {
  public static void main(String[] arguments) { System.out.println("Hello, world!"); }
}`,
  trial:
    'class Main { public static void main(String[] a) throws Exception { System.out.println(System.in.readAllBytes().length); } }',
  ownFiles: ['main.jar', 'out'],
} as const satisfies LanguageDefinition
