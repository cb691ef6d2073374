// Groovy: on a JDK.
import type { LanguageDefinition } from './definition.ts'
import { virtualMachineRun } from './limits.ts'

export const groovy = {
  title: 'Groovy',
  extensions: ['.groovy'],
  comment: ['//', ''],
  packages: ['groovy', 'default-jdk-headless'],
  tools: [{ program: 'groovy', pattern: /^Groovy Version: (\d+)\.(\d+)\S*/mu, oldest: [2, 4] }],
  limits: { run: virtualMachineRun },
  least: { memory: 24 * 1024 * 1024, processes: 16 },
  example: 'println "Hello, world!"',
  trial: 'println System.in.bytes.length',
  recipe: {
    source: 'main.groovy',
    run: ['java', '-cp', '/usr/share/groovy/lib/*:.', 'groovy.ui.GroovyMain', 'main.groovy'],
    paths: [
      '/usr/share/groovy',
      '/usr/share/java',
      // The modules beside the core (JSON, XML, templates, SQL) are links to files in this directory.
      '/usr/share/maven-repo/org/codehaus/groovy',
      '/etc/groovy',
    ],
    archives: 'run',
  },
} as const satisfies LanguageDefinition
