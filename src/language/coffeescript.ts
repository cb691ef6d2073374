// CoffeeScript.
import type { LanguageDefinition } from './definition.ts'

export const coffeescript = {
  title: 'CoffeeScript',
  aliases: ['coffee'],
  extensions: ['.coffee'],
  comment: ['#', ''],
  packages: ['coffeescript'],
  tools: [
    { program: 'coffee', pattern: /^CoffeeScript version (\d+)\.(\d+)\.\d+/mu, oldest: [2, 0] },
  ],
  least: { processes: 8 },
  example: 'console.log "Hello, world!"',
  trial: 'console.log require("fs").readFileSync(0).length',
  recipe: {
    source: 'main.coffee',
    // Without a source map, stack traces would name lines of the generated JavaScript.
    run: ['coffee', '--inline-map', 'main.coffee'],
    environment: { NODE_OPTIONS: '--enable-source-maps' },
    paths: ['/usr/share/nodejs', '/usr/share/coffeescript'],
    usualStack: true,
    outOfMemory: /heap out of memory/u,
  },
} as const satisfies LanguageDefinition
