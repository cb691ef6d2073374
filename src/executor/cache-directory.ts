// The directory that a worker keeps from one start to the next: compiled programs, the keeper, what languages prepare. It is
// looked at first, as the directory of another user would show as the failure of whatever writes there first.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, SandboxError } from '#contract'

/** What is kept below it, each made by who uses it. */
const parts = ['artefact', 'blob', 'class-archive', 'keeper', 'precompiled-header', 'trial']

/** What is wrong with a directory, and what helps. */
export interface CacheFault {
  readonly reason: string
  readonly remedy: string
}

/** Makes it if it is missing. @throws {SandboxError} step `cache.open` when it is not this user's. */
export function openCacheDirectory(directory: string): void {
  const fault = examineCacheDirectory(directory, process.getuid?.() ?? 0)
  if (fault !== null) throw new SandboxError('cache.open', `${fault.reason}; ${fault.remedy}`)
  try {
    // Others may pass through it, not list it: the slots' users get to what is prepared for them.
    mkdirSync(directory, { recursive: true, mode: 0o711 })
  } catch (cause) {
    throw new SandboxError('cache.open', `${directory}: ${describe(cause)}`, cause)
  }
}

/** Null when a worker of this uid can have it. It makes nothing. */
export function examineCacheDirectory(directory: string, uid: number): CacheFault | null {
  // Root may write whatever can be written at all.
  if (uid === 0) return null
  let existing = directory
  while (readOwner(existing) === null && existing !== '/') existing = dirname(existing)
  const foreign = parts
    .map((part) => `${directory}/${part}`)
    .find((path) => (readOwner(path) ?? uid) !== uid)
  const path = foreign ?? (isWritable(existing) ? null : existing)
  if (path === null) return null
  return {
    reason: `the cache directory ${directory} is not the worker's: ${path} belongs to uid ${readOwner(path)}, the worker is uid ${uid}`,
    remedy: `chown -R ${uid} ${directory} (after mkdir -p), or set CACHE_DIRECTORY to a directory of its own`,
  }
}

/** Null when there is no such path, or none that can be seen. */
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
