// JavaScript and TypeScript on this process's Node. Only TypeScript's own compiler, which runs first, checks types.
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { HostPath } from '#contract'
import type { Artefact, FindToolchain, Toolchain } from '../definition.ts'
import { ToolError } from '../tool.ts'
import { readVersion } from '../version.ts'

// These paths in the box hide the installation's place.
const node = '/opt/node/node'
const compilerDirectory = '/opt/typescript'
const typeDirectory = '/opt/types'
const preload = '/opt/node/preload.cjs'

const host = realpathSync(process.execPath)

// Node's default is a megabyte; the process has as much as the memory limit.
const stackKibibytes = 65_536

function describeNode(file: string): Omit<Toolchain, 'version' | 'compiler'> {
  return {
    location: host,
    commandLine: ['node', file],
    paths: [
      { source: host, target: node },
      { source: join(import.meta.dirname, 'preload.cjs'), target: preload },
    ],
    files: [host],
    warmPaths: [host],
    run: ({ content }: Artefact) => ({
      argv: [node, '--require', preload, `--stack-size=${stackKibibytes}`, file],
      files: [{ path: `/box/${file}`, content, executable: false }],
      unlimitedStack: true,
    }),
    ranOutOfMemory: (exitCode, stderr) =>
      exitCode !== 0 && stderr.includes('JavaScript heap out of memory'),
    accelerators: [],
  }
}

export const findJavaScript: FindToolchain = () =>
  Promise.resolve({
    ...describeNode('main.js'),
    version: `Node ${process.versions.node}`,
    compiler: null,
  })

const options = [
  ['--strict', '--target', 'es2024', '--lib', 'es2024', '--types', 'node'],
  // Always a module: names are its own, and `await` may stand anywhere. A preload adds `require`.
  ['--module', 'esnext', '--moduleResolution', 'bundler', '--moduleDetection', 'force'],
].flat()

/** @throws {ToolError} when the compiler is not among this project's packages. */
export const findTypeScript: FindToolchain = async () => {
  const { compiler, types } = findPackages()
  const version = await readVersion(join(compiler, 'lib/tsc'), '--version')
  const runs = describeNode('main.js')
  return {
    ...runs,
    version: `TypeScript ${version.replace('Version ', '')}, Node ${process.versions.node}`,
    paths: [
      ...runs.paths,
      { source: compiler, target: compilerDirectory },
      ...types.map(({ name, path }): HostPath => ({
        source: path,
        target: `${typeDirectory}/node_modules/${name}`,
      })),
    ],
    warmPaths: [...runs.warmPaths, `${compiler}/lib`],
    compiler: {
      commandLine: ['tsc', ...options, 'main.ts'],
      identity: [version, ...options].join(' '),
      command: ({ code, arguments: words }) => ({
        argv: ['/bin/sh', '-c', script, 'sh', ...options, ...words],
        files: [{ path: '/box/main.ts', content: code, executable: false }],
        unlimitedStack: false,
      }),
      readArtefact: (stdout) => ({ content: stdout, entry: '' }),
    },
  }
}

/** The compiler prints messages to stdout, which is the artefact's. */
const script = `
${compilerDirectory}/lib/tsc "$@" --typeRoots ${typeDirectory}/node_modules/@types --pretty false \\
  --noEmitOnError --outDir out main.ts 1>&2 || exit 1
exec cat out/main.js`

function findPackages(): {
  readonly compiler: string
  readonly types: readonly { readonly name: string; readonly path: string }[]
} {
  const { resolve } = createRequire(import.meta.url)
  const find = (name: string, from?: string): string =>
    dirname(resolve(`${name}/package.json`, from === undefined ? undefined : { paths: [from] }))
  try {
    const typescript = find('typescript')
    const nodeTypes = find('@types/node')
    return {
      compiler: find(`@typescript/typescript-${process.platform}-${process.arch}`, typescript),
      types: [
        { name: '@types/node', path: nodeTypes },
        { name: 'undici-types', path: find('undici-types', nodeTypes) },
      ],
    }
  } catch {
    throw new ToolError('its compiler is no part of this installation', false, 'npm ci')
  }
}
