// The directory that a worker keeps from one start to the next: compiled programs, the keeper, the files that languages
// prepare. Its owner is checked first; otherwise a directory of another user would appear as a failure of the first module that
// writes there.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, SandboxError } from '#contract'

/** Its subdirectories; each is created by the module that uses it. */
const parts = ['artefact', 'blob', 'class-archive', 'keeper', 'precompiled-header', 'trial']

/** Creates the directory if it is missing. @throws {SandboxError} step `cache.open` when this user cannot write it. */
export function openCacheDirectory(directory: string): void {
  const fault = examineCacheDirectory(directory, process.getuid?.() ?? 0)
  if (fault !== null) throw new SandboxError('cache.open', `${fault.reason}; ${fault.remedy}`)
  try {
    // Other users may pass through the directory but not list it: the slots' users must reach the files prepared for them.
    mkdirSync(directory, { recursive: true, mode: 0o711 })
  } catch (cause) {
    throw new SandboxError('cache.open', `${directory}: ${describe(cause)}`, cause)
  }
}

/** Returns why a worker of this uid cannot use the directory, and the remedy; null when it can. Creates nothing. */
export function examineCacheDirectory(
  directory: string,
  uid: number,
): { readonly reason: string; readonly remedy: string } | null {
  // Root can write wherever writing is possible at all.
  if (uid === 0) return null
  let existing = directory
  while (readOwner(existing) === null && existing !== '/') existing = dirname(existing)
  const foreign = parts
    .map((part) => `${directory}/${part}`)
    .find((path) => (readOwner(path) ?? uid) !== uid)
  const path = foreign ?? (isWritable(existing) ? null : existing)
  if (path === null) return null
  return {
    reason: `the cache directory ${directory} does not belong to the worker: ${path} belongs to uid ${readOwner(path)}, the worker is uid ${uid}`,
    remedy: `chown -R ${uid} ${directory} (after mkdir -p), or set CACHE_DIRECTORY to another directory`,
  }
}

function readOwner(path: string): number | null {
  try {
    return statSync(path).uid
  } catch {
    return null
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
