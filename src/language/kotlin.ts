// Kotlin: on a JDK.
import type { LanguageDefinition } from './definition.ts'
import { slowCompile, virtualMachineRun } from './limits.ts'
import { words } from './words.ts'

/**
 * Shell script that finds a static `main` (`@JvmStatic`) of an object or companion object and names its class in the jar.
 * kotlinc itself names only the class of a top-level `main`.
 */
const findMain = String.raw`
grep -rqs --include='*.kt' JvmStatic . || exit 0
"$JAVA_HOME/bin/jar" xf main.jar META-INF/MANIFEST.MF && grep -q ^Main-Class META-INF/MANIFEST.MF && exit 0
names=$("$JAVA_HOME/bin/jar" tf main.jar | sed -n 's/[.]class$//p' | grep -v -e ^kotlin/ -e ^META-INF/)
name=$("$JAVA_HOME/bin/javap" -public -cp main.jar $names | sed -n -e 's/^[a-z ]*class \([^ <]*\).*/\1/;t keep' \
  -e '/^ *public static .*void main(java.lang.String\[\])/{g;p;q' -e '}' -e b -e ':keep' -e h)
[ -z "$name" ] || exec "$JAVA_HOME/bin/jar" ufe main.jar "$name"`

// kotlinc's launcher sets an option that the JVM warns about at each start.
const compile = words(`kotlinc -J-XX:+UnlockDiagnosticVMOptions -J-XX:-PrintWarnings main.kt
  -include-runtime -d main.jar`)

export const kotlin = {
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
  limits: { compile: slowCompile, run: virtualMachineRun },
  least: { processes: 16 },
  example: `fun main() {
    println("Hello, world!")
}`,
  trial: 'fun main() {\n    println(System.`in`.readBytes().size)\n}',
  recipe: {
    source: 'main.kt',
    compile: {
      commands: [compile, ['sh', '-c', findMain]],
      makes: 'main.jar',
      together: ['.kt'],
    },
    run: ['java', '-jar', 'main.jar'],
    typed: { compile },
    paths: ['/usr/share/kotlin', '/usr/share/java'],
    archives: 'compile',
  },
} as const satisfies LanguageDefinition
