// Programs of Debian's packages for the slow suites: this host's, or else unpacked below .data, where they stay.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const machine = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`

/** @param name of the folder below .data. @returns the folder that looks like the root of a host with these packages. */
export function unpackPackages(name: string, packages: readonly string[]): string {
  const kept = join(root, '.data', name)
  execFileSync(join(import.meta.dirname, 'packages.sh'), [kept, ...packages], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return join(kept, 'tree')
}

/** Where programs of such a folder find their libraries. */
export function findLibraries(tree: string): string {
  return join(tree, 'usr/lib', machine)
}

/** `/` where the host has the program by itself, such as `usr/sbin/nginx`. */
export function findTree(program: string, name: string, packages: readonly string[]): string {
  return existsSync(join('/', program)) ? '/' : unpackPackages(name, packages)
}
