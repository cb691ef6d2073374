// Finds the languages on this host and reads their files once.
// Page cache is charged to the group that first touches it: read from here, it is the worker's and not the first run's.
import { closeSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { SandboxError } from '#contract'
import type { Language } from '#contract'
import { findCpp } from './cpp/cpp.ts'
import { findJava } from './java/java.ts'
import type { Preparation, Toolchain } from './definition.ts'
import { findPython } from './python/python.ts'

export type { Artefact, Compiler, Toolchain } from './definition.ts'
export { pythonInterpreter } from './python/python.ts'
export { readVersion } from './version.ts'

/**
 * @param javaHome of the JDK to use; undefined for the newest.
 * @throws {SandboxError} step `toolchain.find`, naming every language that is missing and the package to install.
 */
export async function findToolchains(
  preparation: Preparation,
  javaHome: string | undefined,
): Promise<Readonly<Record<Language, Toolchain>>> {
  const [python, cpp, java] = await Promise.allSettled([
    findPython(),
    findCpp(preparation),
    findJava(javaHome),
  ])
  const missing: string[] = []
  const take = (result: PromiseSettledResult<Toolchain>, name: string): Toolchain | null => {
    if (result.status === 'fulfilled') return result.value
    const { reason } = result
    missing.push(`${name} (${reason instanceof Error ? reason.message : String(reason)})`)
    return null
  }
  const found = {
    python: take(python, 'Python: apt-get install python3'),
    cpp: take(cpp, 'C++: apt-get install g++'),
    java: take(java, 'Java: apt-get install default-jdk-headless'),
  }
  if (found.python === null || found.cpp === null || found.java === null) {
    throw new SandboxError('toolchain.find', `missing: ${missing.join('; ')}`)
  }
  return { python: found.python, cpp: found.cpp, java: found.java }
}

/** Larger files (an LTO compiler, a JDK's source archive) are no part of an ordinary run. */
const largestBytes = 160 * 1024 * 1024

/** Reads files, and the files directly in directories; what is missing is skipped. */
export function warm(paths: readonly string[]): void {
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  for (const path of paths) {
    try {
      if (!statSync(path).isDirectory()) {
        readThrough(path, buffer)
        continue
      }
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (entry.isFile()) readThrough(`${path}/${entry.name}`, buffer)
      }
    } catch {
      // A host without this path runs its programs from elsewhere.
    }
  }
}

function readThrough(path: string, buffer: Buffer): void {
  const descriptor = openSync(path, 'r')
  try {
    if (statSync(path).size > largestBytes) return
    while (readSync(descriptor, buffer, 0, buffer.length, null) > 0);
  } finally {
    closeSync(descriptor)
  }
}
