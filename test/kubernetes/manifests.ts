// deploy/kubernetes rendered as kubectl does, and held against the schemas that Kubernetes and KEDA publish: values by their
// validators, and fields that there are not by the compiler, as their types know every field.
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
/** Where the schemas are. */
const folder = join(root, '.data/kubernetes')

/** Exact versions; the first is of Kubernetes 1.34 or newer. */
const packages = ['kubernetes-models@5.1.0', '@kubernetes-models/keda@2.0.0', 'yaml@2.9.1']
/** For machines without kubectl and kustomize. */
const kustomizeModule = 'sigs.k8s.io/kustomize/kustomize/v5@v5.5.0'

/** One object of a manifest. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

/** Installs what is missing. */
export async function installSchemas(): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  await run(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages],
    { cwd: folder },
  )
}

/** What is rendered of a folder of deploy/kubernetes. */
export async function render(name: string): Promise<Resource[]> {
  const { parseAllDocuments } = (await import(
    pathToFileURL(join(folder, 'node_modules/yaml/dist/index.js')).href
  )) as { parseAllDocuments: (text: string) => { toJS(): unknown }[] }
  const text = await kustomize(join(root, 'deploy/kubernetes', name))
  return parseAllDocuments(text).map((document) => document.toJS() as Resource)
}

async function kustomize(path: string): Promise<string> {
  for (const [command, ...words] of [
    ['kubectl', 'kustomize'],
    ['kustomize', 'build'],
    ['go', 'run', kustomizeModule, 'build'],
  ] as const) {
    try {
      const { stdout } = await run(command, [...words, path], { maxBuffer: 16 * 1024 * 1024 })
      return stdout
    } catch (error) {
      if ((error as { code: unknown }).code !== 'ENOENT') throw error
    }
  }
  throw new Error('rendering takes kubectl, kustomize, or Go to build the latter')
}

/** Where the package has a kind of this group. */
const moduleOf = ({ apiVersion }: Resource): string =>
  apiVersion.includes('keda.sh/')
    ? `@kubernetes-models/keda/${apiVersion}`
    : `kubernetes-models/${apiVersion}`

/** What is wrong with them, in the words of the validators and of the compiler; none is a kind that nobody knows. */
export async function findFaults(resources: readonly Resource[]): Promise<string[]> {
  return [...(await findWrongValues(resources)), ...(await findStrangeFields(resources))]
}

async function findWrongValues(resources: readonly Resource[]): Promise<string[]> {
  const script = `
    import { readFileSync } from 'node:fs'
    const faults = []
    for (const { path, kind, resource } of JSON.parse(readFileSync(0, 'utf8'))) {
      const name = kind + ' ' + resource.metadata?.name
      try {
        const { [kind]: Model } = await import(path)
        if (Model === undefined) throw new Error('there is no such kind in ' + path)
        new Model(resource).validate()
      } catch (error) {
        faults.push(...(error.errors ?? [error]).map((one) => name + ': ' + one.message))
      }
    }
    console.log(JSON.stringify(faults))`
  const asked = resources.map((resource) => ({
    path: moduleOf(resource),
    kind: resource.kind,
    resource,
  }))
  const file = join(folder, 'validate.mjs')
  await writeFile(file, script)
  const running = run(process.execPath, [file], { cwd: folder })
  running.child.stdin?.end(JSON.stringify(asked))
  return JSON.parse((await running).stdout) as string[]
}

async function findStrangeFields(resources: readonly Resource[]): Promise<string[]> {
  const lines = resources.flatMap((resource, index) => [
    `import type { I${resource.kind} as Kind${index} } from '${moduleOf(resource)}'`,
    `export const resource${index}: Kind${index} = ${JSON.stringify(resource, null, 1)}`,
  ])
  await writeFile(join(folder, 'resources.ts'), lines.join('\n'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--types', '', '--target', 'esnext']
  const paths = ['--module', 'nodenext', '--ignoreConfig', 'resources.ts']
  return run(join(root, 'node_modules/.bin/tsc'), [...options, ...paths], { cwd: folder }).then(
    () => [],
    (error: { stdout: string }) => error.stdout.trim().split('\n'),
  )
}

/** Seconds of a process's end, as its code says them. */
export async function readSeconds(file: string, name: string): Promise<number> {
  const text = await readFile(join(root, file), 'utf8')
  const [, seconds] = new RegExp(`^const ${name} = (\\d+)$`, 'm').exec(text) ?? []
  return Number(seconds)
}
