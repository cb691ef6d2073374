// Small in-memory disks for the suite that can be filled. The suite runs in a separate mount namespace, so that no disk
// outlives it.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readlinkSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface Disk {
  readonly directory: string
  /** Leaves no byte free. */
  fill(): void
  /** Frees the space again. */
  free(): void
  unmount(): void
}

const mebibyte = Buffer.alloc(1024 * 1024)

/** Restarts this program in a new mount namespace, in place of this process. */
export function enterMountNamespace(): void {
  const present = readlinkSync('/proc/self/ns/mnt')
  const outer = process.env['FAULTS_OUTER_NAMESPACE'] ?? present
  if (outer !== present) return
  process.execve?.(
    '/usr/bin/unshare',
    [
      'unshare',
      '--mount',
      '--propagation=private',
      '--',
      process.execPath,
      ...process.execArgv,
      ...process.argv.slice(1),
    ],
    { ...process.env, FAULTS_OUTER_NAMESPACE: outer },
  )
}

/** Mounts a disk. @param directory created if missing. */
export function mountDisk(directory: string, mebibytes: number): Disk {
  mkdirSync(directory, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755`, 'tmpfs', directory])
  const ballast = join(directory, 'ballast')
  return {
    directory,
    fill() {
      const file = openSync(ballast, 'w')
      try {
        // Writes whole mebibytes first, then ever smaller blocks into the rest.
        for (let bytes = mebibyte.byteLength; bytes >= 1;) {
          try {
            writeSync(file, mebibyte, 0, bytes)
          } catch {
            bytes = Math.floor(bytes / 16)
          }
        }
      } finally {
        closeSync(file)
      }
    },
    free() {
      rmSync(ballast, { force: true })
    },
    unmount() {
      execFileSync('umount', ['--lazy', directory])
    },
  }
}
