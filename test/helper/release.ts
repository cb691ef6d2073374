// Unpacks the previous release beside this code, so that tests can start its processes while a new release is rolled out.
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { makeDirectory } from './directory.ts'

const root = resolve(import.meta.dirname, '../..')

/** An unpacked release. */
export interface Release {
  /** The revision, for messages. */
  readonly revision: string
  /** The directory of its files. */
  readonly directory: string
}

/**
 * Unpacks the newest tag `v…`, or the revision that PREVIOUS_RELEASE names. It is removed when the test ends.
 * @returns null before the first release, and if git or the history is missing, as in a shallow clone.
 */
export function unpackPreviousRelease(t: Test): Release | null {
  const name =
    process.env['PREVIOUS_RELEASE'] ??
    git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')
  const revision =
    name === null ? null : git('rev-parse', '--verify', '--short', `${name}^{commit}`)
  if (revision === null) return null
  const directory = makeDirectory(t)
  const archive = spawnSync('git', [...trust, 'archive', revision], {
    cwd: root,
    maxBuffer: 2 ** 30,
  })
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout })
  if (archive.status !== 0 || unpacked.status !== 0)
    throw new Error(`${revision} could not be unpacked: ${archive.stderr.toString()}`)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return { revision, directory }
}

// The tests run as root, and the checkout may belong to another user.
const trust = ['-c', 'safe.directory=*']

/** Returns git's output; null when it is empty or git fails. */
function git(...parameters: string[]): string | null {
  const { status, stdout } = spawnSync('git', [...trust, ...parameters], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
}
