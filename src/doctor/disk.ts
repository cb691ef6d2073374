// Examines the disks that the worker writes to. Boxes write to memory.
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { examineCacheDirectory } from '#cache-directory'
import { reportMissing, reportOk, reportWarning } from './host.ts'
import type { Finding, Host } from './host.ts'

const leastMebibytes = 64
const ampleMebibytes = 1024
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
  const mebibytes = Math.floor((bavail * bsize) / 2 ** 20)
  const detail = `${mebibytes} MiB free for ${directory}`
  const remedy = `free some space: du -xhd1 ${existing} | sort -h`
  if (mebibytes < leastMebibytes) return reportMissing(name, detail, remedy)
  // btrfs and others report no inodes.
  if (files > 0 && ffree < leastFiles) {
    const removal = `remove files: du --inodes -xd1 ${existing} | sort -n`
    return reportMissing(name, `${ffree} inodes free for ${directory}`, removal)
  }
  return mebibytes < ampleMebibytes ? reportWarning(name, detail, remedy) : reportOk(name, detail)
}
