// Clojure: on a JDK.
import type { LanguageDefinition } from './definition.ts'
import { virtualMachineRun } from './limits.ts'

export const clojure = {
  title: 'Clojure',
  aliases: ['clj'],
  extensions: ['.clj'],
  comment: [';', ''],
  packages: ['clojure', 'default-jdk-headless'],
  tools: [
    {
      program: 'clojure',
      ask: ['-e', '(println (clojure-version))'],
      pattern: /^(\d+)\.(\d+)\S*/mu,
      oldest: [1, 10],
    },
  ],
  limits: { run: virtualMachineRun },
  least: { memory: 32 * 1024 * 1024, processes: 16 },
  example: '(println "Hello, world!")',
  trial: '(println (count (slurp *in*)))',
  recipe: {
    source: 'main.clj',
    run: [
      'java',
      '-cp',
      '/usr/share/java/clojure.jar:/usr/share/java/core.specs.alpha.jar:/usr/share/java/spec.alpha.jar:.',
      'clojure.main',
      '-i',
      'main.clj',
      // Otherwise threads of futures and agents would keep the JVM alive for another minute.
      '-e',
      '(shutdown-agents)',
      // The words after a script are its arguments.
      '/dev/null',
    ],
    paths: ['/usr/share/java'],
    archives: 'run',
  },
} as const satisfies LanguageDefinition
