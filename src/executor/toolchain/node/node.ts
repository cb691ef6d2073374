// JavaScript and TypeScript on the worker's own Node. TypeScript's compiler checks types and emits JavaScript.
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { PrestartedRuntime } from '#contract'
import type { Artefact, FindToolchain, Toolchain } from '../definition.ts'
import { ToolError } from '../tool.ts'
import { readVersion } from '../version.ts'
import { readEmitted, writeEmitted } from './emitted.ts'

// These paths in the box hide where the service is installed.
const node = '/opt/node/node'
const compilerDirectory = '/opt/typescript'
const typeDirectory = '/opt/types'
const preload = '/opt/node/preload.cjs'
const resolver = '/opt/node/resolve.cjs'

const host = realpathSync(process.execPath)

// Node's default is a megabyte, but the process's stack may fill the memory limit.
const stackKibibytes = 65_536

const file = 'main.js'

/** The entry of an artefact that holds several files. */
const several = 'several'

function describeNode(prestarts: boolean): Omit<Toolchain, 'version' | 'compiler'> {
  return {
    location: host,
    commandLine: ['node', file],
    paths: [
      { source: host, target: node },
      { source: join(import.meta.dirname, 'preload.cjs'), target: preload },
      { source: join(import.meta.dirname, 'resolve.cjs'), target: resolver },
    ],
    files: [host],
    warmPaths: [host],
    run: ({ content, entry }: Artefact) => ({
      argv: describeRun(entry === several ? [preload, resolver] : [preload]),
      files:
        entry === several
          ? readEmitted(Buffer.from(content))
          : [{ path: `/box/${file}`, content, executable: false }],
      unlimitedStack: true,
    }),
    ranOutOfMemory: (exitCode, stderr) =>
      exitCode !== 0 && stderr.includes('JavaScript heap out of memory'),
    accelerators: prestarts ? { prestart: () => prestarted } : {},
  }
}

function describeRun(required: readonly string[]): string[] {
  const options = required.flatMap((one) => ['--require', one])
  return [node, ...options, `--stack-size=${stackKibibytes}`, file]
}

const prestarted: PrestartedRuntime = {
  name: 'Node',
  argv: describeRun([preload]),
  unlimitedStack: true,
  awaits: `/box/${file}`,
  // Node reads it before it loads the preload: it says whether the program is a module, and defines module names.
  looksForBefore: ['/box/package.json'],
}

export const findJavaScript: FindToolchain = (_, settings) =>
  Promise.resolve({
    ...describeNode(settings.NODE_STARTS_AHEAD),
    version: `Node ${process.versions.node}`,
    compiler: null,
  })

const options = [
  ['--strict', '--target', 'es2024', '--lib', 'es2024', '--types', 'node'],
  // A source is always a module: its names are not global, and `await` is allowed at top level. preload.cjs adds `require`.
  ['--module', 'esnext', '--moduleResolution', 'bundler', '--moduleDetection', 'force'],
].flat()

/** Finds TypeScript's compiler. @throws {ToolError} when it is not among this project's packages. */
export const findTypeScript: FindToolchain = async (_, settings) => {
  const { compiler, types } = findPackages()
  const version = await readVersion(join(compiler, 'lib/tsc'), ['--version'])
  const runs = describeNode(settings.NODE_STARTS_AHEAD)
  return {
    ...runs,
    version: `TypeScript ${version.replace('Version ', '')}, Node ${process.versions.node}`,
    paths: [
      ...runs.paths,
      { source: compiler, target: compilerDirectory },
      ...Object.entries(types).map(([name, source]) => ({
        source,
        target: `${typeDirectory}/node_modules/${name}`,
      })),
    ],
    warmPaths: [...runs.warmPaths, `${compiler}/lib`],
    compiler: {
      commandLine: ['tsc', ...options, 'main.ts'],
      identity: [version, ...options].join(' '),
      command: ({ code, files, arguments: args }) => ({
        argv: [
          '/bin/sh',
          '-c',
          ...(files.length === 0 ? [script, 'sh'] : [scriptOfSeveral, 'sh', ...optionsOfSeveral]),
          ...options,
          ...args,
        ],
        files: [{ path: '/box/main.ts', content: code, executable: false }],
        unlimitedStack: false,
      }),
      readArtefact(stdout, { files }) {
        if (files.length === 0) return { content: stdout, entry: '' }
        readEmitted(stdout)
        return { content: stdout, entry: several }
      },
    },
  }
}

/** With these options an import may name `./helper.ts`, and a submission's tsconfig.json is ignored. */
const optionsOfSeveral = ['--rewriteRelativeImportExtensions', '--ignoreConfig']

/** Sends the compiler's messages to stderr, because stdout carries the artefact. */
const compile = `
${compilerDirectory}/lib/tsc "$@" --typeRoots ${typeDirectory}/node_modules/@types --pretty false \\
  --noEmitOnError --outDir out main.ts 1>&2 || exit 1
`
const script = `${compile}exec cat out/main.js`
const scriptOfSeveral = `${compile}${writeEmitted}`

function findPackages() {
  const { resolve } = createRequire(import.meta.url)
  const find = (name: string, from?: string): string =>
    dirname(resolve(`${name}/package.json`, from === undefined ? undefined : { paths: [from] }))
  try {
    const typescript = find('typescript')
    const nodeTypes = find('@types/node')
    return {
      compiler: find(`@typescript/typescript-${process.platform}-${process.arch}`, typescript),
      types: { '@types/node': nodeTypes, 'undici-types': find('undici-types', nodeTypes) },
    }
  } catch {
    throw new ToolError('its compiler is no part of this installation', false, 'npm ci')
  }
}
