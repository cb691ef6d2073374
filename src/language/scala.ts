// Scala: on a JDK. Runs the object Main, otherwise the only object that can be run.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile, virtualMachineRun } from './limits.ts'

export const scala = {
  title: 'Scala',
  extensions: ['.scala'],
  comment: ['//', ''],
  packages: ['scala', 'default-jdk-headless'],
  tools: [
    {
      program: 'scalac',
      ask: ['-version'],
      pattern: /^Scala compiler version (\d+)\.(\d+)\S*/mu,
      oldest: [2, 11],
    },
  ],
  limits: { compile: slowCompile, run: virtualMachineRun },
  least: { processes: 16 },
  example: `object Main {
  def main(arguments: Array[String]): Unit = {
    println("Hello, world!")
  }
}`,
  trial:
    'object Main { def main(a: Array[String]): Unit = println(Iterator.continually(System.in.read()).takeWhile(_ != -1).size) }',
  recipe: {
    source: 'main.scala',
    compile: {
      commands: [
        [
          'sh',
          '-c',
          'grep -q ^package main.scala || ! grep -qw "object Main" main.scala || set -- -Xmain-class Main "$@"; exec scalac -d main.jar "$@"',
          'sh',
          'main.scala',
        ],
      ],
      makes: 'main.jar',
      together: ['.scala'],
    },
    run: ['java', '-Xbootclasspath/a:/usr/share/java/scala-library.jar', '-jar', 'main.jar'],
    typed: { compile: ['scalac', '-d', 'main.jar', 'main.scala'] },
    paths: ['/usr/share/java', '/usr/share/scala*'],
    archives: 'compile',
  },
} as const satisfies LanguageDefinition
