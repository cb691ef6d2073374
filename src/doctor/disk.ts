// Examines the disks that the worker writes to. Boxes write to memory.
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { examineCacheDirectory } from '#cache-directory'
import { reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'

const mebibyte = 1024 * 1024
const leastBytes = 64 * mebibyte
const amplyBytes = 1024 * mebibyte
const leastFiles = 1000

/** Examines the owner of the cache directory, and the free space there and in the temporary directory. */
export async function examineDisks(host: Host): Promise<Finding[]> {
  const fault = examineCacheDirectory(host.cacheDirectory, host.uid)
  return [
    fault === null
      ? reportOk('cache directory', host.cacheDirectory)
      : reportMissing('cache directory', fault.reason, fault.remedy),
    await examineDisk('cache disk', host.cacheDirectory),
    await examineDisk('temporary disk', '/tmp'),
  ]
}

async function examineDisk(name: string, directory: string): Promise<Finding> {
  // The worker makes missing directories, so the nearest existing parent directory counts.
  let existing = resolve(directory)
  while (!existsSync(existing) && existing !== '/') existing = dirname(existing)
  const { bavail, bsize, files, ffree } = await statfs(existing)
  const freeBytes = bavail * bsize
  const detail = `${Math.floor(freeBytes / mebibyte)} MiB free for ${directory}`
  const remedy = `free some space: du -xhd1 ${existing} | sort -h`
  if (freeBytes < leastBytes) return reportMissing(name, detail, remedy)
  // btrfs and others report no inodes.
  if (files > 0 && ffree < leastFiles)
    return reportMissing(
      name,
      `${ffree} inodes free for ${directory}`,
      `remove files: du --inodes -xd1 ${existing} | sort -n`,
    )
  return freeBytes < amplyBytes ? reportWarning(name, detail, remedy) : reportOk(name, detail)
}
