// Faults in the console that need no browser to be seen: how its files are served, and what its page works out.
import type { Fault } from '../fault.ts'

export const consoleFaults: readonly Fault[] = [
  {
    name: 'console: a page may run what stands inline',
    text: `"script-src 'self'",`,
    instead: `"script-src 'self' 'unsafe-inline'",`,
    tests: ['console/serve'],
  },
  {
    name: 'console: plain HTTP is served the page',
    text: 'return passHttps(request, response, () => requireHost(request, response, answer))',
    instead: 'return requireHost(request, response, answer)',
    tests: ['console/serve'],
  },
  {
    name: 'console: a browser keeps an old page for ever',
    text: "'Cache-Control': file.path === '/' ? 'no-cache' : ",
    instead: "'Cache-Control': file.path === '' ? 'no-cache' : ",
    tests: ['console/serve'],
  },
  {
    name: 'console: what turns the direction of writing is obeyed',
    text: String.raw`\u200b-\u200f\u2028-\u202e`,
    instead: String.raw`\u200b-\u200f`,
    tests: ['console/page'],
  },
  {
    name: 'console: a copied command ends at a quote in the code',
    text: "return `'${text.replaceAll(\"'\", String.raw`'\\''`)}'`",
    instead: "return `'${text}'`",
    tests: ['console/page'],
  },
]
