// Faults in the client, the command line, the log's output and what a process reads of its environment.
import type { Fault } from '../fault.ts'

export const toolFaults: readonly Fault[] = [
  {
    name: 'client: a webhook of an hour ago is believed',
    text: 'if (Math.abs(now - Number(timestamp)) > toleranceSeconds) return null',
    instead: '',
    tests: ['client/client'],
  },
  {
    name: 'client: a key is sent in plain text over the network',
    text: "if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwnMachine)) {",
    instead: "if (url.protocol !== 'https:' && url.protocol !== 'http:') {",
    tests: ['client/client'],
  },
  {
    name: 'client: the key follows a redirect',
    text: "redirect: 'manual',",
    instead: '',
    tests: ['client/client'],
  },
  {
    name: 'client: Retry-After is not heard',
    text: 'const asked = (error.retryAfterSeconds ?? 0) * 1000',
    instead: 'const asked = 0',
    tests: ['client/client'],
  },
  {
    name: 'client: a submission is tried again under another key',
    text: "const { id } = (await call('POST', 'api/submit', { ...given, body, key })) as Result",
    instead: "const { id } = (await call('POST', 'api/submit', { ...given, body })) as Result",
    tests: ['client/client'],
  },
  {
    name: 'cli: a wrong answer ends as an accepted one',
    text: '  WA: 1,',
    instead: '  WA: 0,',
    tests: ['cli/cli'],
  },
  {
    name: "cli: a receiver's answer writes to the operator's terminal",
    text: '      makeVisible(snippet),',
    instead: '      String(snippet),',
    tests: ['cli/webhooks'],
  },
  {
    name: 'cli: a broken log ends with status 0',
    text: 'return ok ? 0 : exitStatuses.failed',
    instead: 'return 0',
    tests: ['event/verify'],
  },
  {
    name: 'log: a secret is written as it is',
    text: "  'webhook_secret',\n  'secret',",
    instead: "  'webhook_secret',",
    tests: ['log/log'],
  },
  {
    name: 'database: what is acknowledged need not be on disk',
    text: "synchronous_commit: 'on',",
    instead: '',
    tests: ['database/pool'],
  },
  {
    name: 'database: the idle connections beside a dead one are kept',
    text: 'for (const socket of idle) socket.destroy()',
    instead: '',
    tests: ['database/pool'],
  },
  {
    name: 'database: a statement that was given up waits for its turn',
    text: "signal?.addEventListener('abort', cancelUnsent, { once: true })",
    instead: '',
    tests: ['database/cancel'],
  },
  {
    name: 'database: a deadlock is an error of ours',
    text: '(/^(08|40|53|57P)/.test(code) ||',
    instead: '(/^(08|53|57P)/.test(code) ||',
    tests: ['http/submit'],
  },
  {
    name: 'config: a port may be any number',
    text: 'PORT: v.optional(wholeNumber(0, 65_535), ',
    instead: 'PORT: v.optional(wholeNumber(0, 655_350), ',
    tests: ['./config'],
  },
  {
    name: 'language: C++ goes by one name less',
    text: "aliases: ['c++', 'cxx'],",
    instead: "aliases: ['cxx'],",
    tests: ['http/read'],
  },
  {
    name: 'tool: a file beside the program may climb',
    text: "if (isAbsolute(path) || path.split('/').includes('..'))",
    instead: 'if (isAbsolute(path))',
    tests: ['cli/submit'],
  },
  {
    name: 'tool: the name of a test steers the terminal',
    text: 'name === null ? `#${index + 1}` : makeVisible(name),',
    instead: 'name === null ? `#${index + 1}` : name,',
    tests: ['cli/submit'],
  },
]
