// Checks every import in src and in the client against the architecture's table of allowed imports.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import t from 'tap'

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as Record<
  'imports' | 'dependencies',
  Record<string, string>
>
const entries = manifest.imports

const base = [
  '#abort',
  '#back-off',
  '#config',
  '#database',
  '#error',
  '#error-text',
  '#id',
  '#language',
  '#log',
  '#schema',
]
/** The part of `base` that the executor and the webhooks use too: small modules that know nothing of the service. */
const plain = ['#abort', '#back-off', '#error-text']
const everything = null

/**
 * The entries that each module may use; `everything` for the modules that assemble the others. An entry is one of `imports` in
 * package.json. A module is a folder of src, or the client. A folder without its own row belongs to the module around it.
 */
const allowed: Readonly<Record<string, readonly string[] | null>> = {
  '': everything,
  cli: everything,
  dev: everything,
  server: everything,
  worker: everything,
  '../clients/typescript/src': [],
  console: [],
  'console/page': ['#client', '#client-retry'],
  checker: ['#abort'],
  database: plain,
  language: [],
  log: [],
  migration: ['#config', '#database', '#log', '#package'],
  http: [
    ...base,
    '#account',
    '#blob',
    '#checker',
    '#console',
    '#event',
    '#enqueue',
    '#operator',
    '#options',
    '#receipt',
    '#result',
    '#webhook-address',
    '#migration-file',
    '#package',
  ],
  job: [
    ...base,
    '#blob',
    '#checker',
    '#event',
    '#options',
    '#result',
    '#webhook',
    '#queue',
    '#execute',
  ],
  'job/queue': ['#database', '#log'],
  'job/execute': [
    ...base,
    '#blob',
    '#checker',
    '#event',
    '#executor',
    '#queue',
    '#lease',
    '#options',
    '#failpoint',
    '#notify',
    '#report',
    '#sweep',
  ],
  account: [...base, '#event'],
  result: [...base, '#checker', '#event'],
  event: base,
  operator: [...base, '#account', '#event', '#enqueue', '#command'],
  blob: ['#database', '#log'],
  options: ['#blob', '#error', '#language', '#schema'],
  receipt: [...base, '#event', '#result'],
  executor: [
    ...plain,
    '#language',
    '#cache-directory',
    '#contract',
    '#cgroup',
    '#seccomp',
    '#keeper',
    '#resident',
    '#toolchain',
  ],
  'executor/contract': ['#error-text', '#language'],
  'executor/cgroup': ['#contract'],
  'executor/seccomp': ['#contract'],
  'executor/toolchain': ['#contract', '#language'],
  'executor/box/keeper': ['#abort', '#contract', '#cgroup'],
  'executor/box': ['#keeper'],
  'executor/resident': ['#back-off', '#contract', '#cgroup', '#keeper', '#toolchain'],
  doctor: [
    '#config',
    '#database',
    '#error-text',
    '#language',
    '#migration-file',
    '#release',
    '#server-settings',
    '#worker-settings',
    '#cache-directory',
    '#contract',
    '#sandbox',
    '#slot',
    '#toolchain',
  ],
  webhook: plain,
}
/** Files directly in src that other modules build on. */
const baseFiles = ['abort.ts', 'back-off.ts', 'config.ts', 'error.ts', 'id.ts', 'schema.ts']
/** Entries that must not load the executor: the web process, and its entries to src/job. */
const withoutExecutor = [
  'src/job/enqueue.ts',
  'src/job/sweep.ts',
  'src/job/command.ts',
  'src/server/server.ts',
]
/** The files that deploy/entrypoint.sh and the health check start. */
const imageEntries = [
  'src/server/server.ts',
  'src/worker/worker.ts',
  'src/migration/migrate.ts',
  'src/cli/cli.ts',
  'deploy/health.ts',
]

const client = '../clients/typescript/src'
const files = [
  ...readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' }),
  ...readdirSync(`${root}/src/${client}`).map((name) => `${client}/${name}`),
]
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name, imports: readImports(`${root}/src/${name}`) }))

t.test('every import names an entry or stays in its module', async (t) => {
  for (const { name, imports } of files) {
    for (const specifier of imports) {
      if (specifier.startsWith('.')) {
        const target = relative(`${root}/src`, resolve(root, 'src', dirname(name), specifier))
        t.equal(moduleOf(target), moduleOf(name), `src/${name} imports ${specifier} past an entry`)
      }
      if (specifier.startsWith('#'))
        t.ok(entries[specifier], `src/${name} imports ${specifier}, which is an entry`)
    }
  }
})

t.test('each module uses only the entries it may', async (t) => {
  for (const { name, imports } of files) {
    const module = moduleOf(name)
    t.ok(module !== '' || !name.includes('/'), `src/${name} has a row in the table`)
    const may = baseFiles.includes(name) ? ['#language'] : allowed[module]
    if (may === everything || may === undefined) continue
    for (const specifier of imports.filter((text) => text.startsWith('#'))) {
      t.ok(may.includes(specifier), `src/${name} may import ${specifier}`)
    }
  }
})

t.test('the web process never loads the executor', async (t) => {
  for (const entry of withoutExecutor) {
    t.notOk(
      [...reach(resolve(root, entry))].some((path) => path.includes('/src/executor/')),
      entry,
    )
  }
})

t.test('what an image runs loads no package but the production ones', async (t) => {
  const packages = new Set(
    imageEntries
      .flatMap((entry) => [...reach(resolve(root, entry))])
      .flatMap((path) => readImports(path, false))
      .filter((specifier) => !/^(\.|#|node:)/.test(specifier))
      .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier),
  )
  t.ok(packages.size > 5)
  t.strictSame(
    [...packages].filter((name) => !(name in manifest.dependencies)),
    [],
  )
})

t.test('no file loads itself by way of others', async (t) => {
  for (const { name } of files) {
    const path = `${root}/src/${name}`
    const loaded = readImports(path, false).flatMap((specifier) => [
      ...reach(locate(path, specifier)),
    ])
    t.notOk(loaded.includes(path), name)
  }
})

t.test('every entry leads to a file', async (t) => {
  for (const [entry, path] of Object.entries(entries))
    t.ok(readFileSync(resolve(root, path)), entry)
})

/** Returns the innermost module that contains a file of src; '' for src itself. */
function moduleOf(name: string): string {
  for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) {
    if (folder in allowed) return folder
  }
  return ''
}

/** Returns all files that loading one file loads. Imports of types do not count. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path) || !/\.tsx?$/.test(path)) return seen
  seen.add(path)
  for (const specifier of readImports(path, false)) reach(locate(path, specifier), seen)
  return seen
}

/** Returns the path of the repository's file that a specifier names; the empty string for a package. */
function locate(from: string, specifier: string): string {
  if (specifier.startsWith('#')) return resolve(root, entries[specifier] ?? '')
  return specifier.startsWith('.') ? resolve(dirname(from), specifier) : ''
}

function readImports(path: string, types = true): string[] {
  const text = readFileSync(path, 'utf8')
  return [
    ...text.matchAll(
      /(?:^|\n)(import|export)( type)?\b[^'\n]*?(?:\{[^}]*\}[^'\n]*?)?from '([^']+)'|import\('([^']+)'\)/g,
    ),
  ]
    .filter((match) => types || match[2] === undefined)
    .map((match) => match[3] ?? match[4] ?? '')
}
