// Finds programs of Debian's packages for the slow suites: those of this host, or else unpacked and kept below .data.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const machine = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`

/** Unpacks packages. @param name the folder below .data. @returns a folder like the root of a host with these packages. */
export function unpackPackages(name: string, packages: readonly string[]): string {
  const kept = join(root, '.data', name)
  execFileSync(join(import.meta.dirname, 'packages.sh'), [kept, ...packages], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return join(kept, 'tree')
}

/** Returns the folder in which the unpacked programs find their libraries. */
export function findLibraries(tree: string): string {
  return join(tree, 'usr/lib', machine)
}

/** Returns `/` if the host has the program, such as `usr/sbin/nginx`; otherwise unpacks the packages. */
export function findTree(program: string, name: string, packages: readonly string[]): string {
  return existsSync(join('/', program)) ? '/' : unpackPackages(name, packages)
}
