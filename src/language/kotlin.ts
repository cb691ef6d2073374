// Kotlin: on a JDK.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile, virtualMachineRun } from './limits.ts'

export const kotlin = {
  name: 'kotlin',
  title: 'Kotlin',
  aliases: ['kt'],
  extensions: ['.kt'],
  comment: ['//', ''],
  packages: ['kotlin', 'default-jdk-headless'],
  tools: [
    {
      program: 'kotlinc',
      ask: ['-version'],
      pattern: /kotlinc-jvm (\d+)\.(\d+)\S*/mu,
      oldest: [1, 3],
    },
  ],
  settings: {},
  limits: { compile: slowCompile, run: virtualMachineRun },
  example: `fun main() {
    println("Hello, world!")
}`,
  trial: 'fun main() {\n    println(System.`in`.readBytes().size)\n}',
  recipe: {
    source: 'main.kt',
    compile: {
      commands: [
        [
          'kotlinc',
          // Its launcher sets an option that the JVM warns about each time.
          '-J-XX:+UnlockDiagnosticVMOptions',
          '-J-XX:-PrintWarnings',
          'main.kt',
          '-include-runtime',
          '-d',
          'main.jar',
        ],
      ],
      makes: 'main.jar',
      together: ['.kt'],
    },
    run: ['java', '-jar', 'main.jar'],
    paths: ['/usr/share/kotlin', '/usr/share/java'],
    runsOnJdk: true,
    archives: 'compile',
  },
} as const satisfies LanguageDefinition
