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
  {
    name: 'console: what a lost attempt wrote stands before what the next one writes',
    text: "return data.status === 'queued' ? nothingYet : { ...live, status: data.status }",
    instead: 'return { ...live, status: data.status }',
    tests: ['console/live'],
  },
  {
    name: 'console: a page keeps all that a program writes',
    text: 'const over = whole.length - keptCharacters',
    instead: 'const over = 0',
    tests: ['console/live'],
  },
  {
    name: 'console: a rerun with another verdict is told to be the same',
    text: 'return [{ label, first, now, change: null, differs: first !== now }]',
    instead: 'return [{ label, first, now, change: null, differs: false }]',
    tests: ['console/live'],
  },
  {
    name: 'console: what nobody judged is called accepted',
    text: `verdict === 'AC' && !isJudged ? finished : verdictNames[verdict]`,
    instead: 'verdictNames[verdict]',
    tests: ['console/page'],
  },
  {
    name: 'http: events tell the hash of another one',
    text: 'return { position, version, type, at: at.toISOString(), hash, data: Object.fromEntries(shown) }',
    instead:
      "return { position, version, type, at: at.toISOString(), hash: 'ab'.repeat(32), data: Object.fromEntries(shown) }",
    tests: ['http/read'],
  },
  {
    name: 'console: a page that nobody looks at is told on',
    text: "if (document.visibilityState === 'hidden') hidden.abort()",
    instead: '',
    tests: ['console/screen'],
  },
]
