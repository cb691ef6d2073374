// The release before this code, unpacked beside it so that its processes can be started: for tests of what happens while a
// release goes out.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'

const root = resolve(import.meta.dirname, '../..')

/** A release that went before. */
export interface Release {
  /** The revision, for messages. */
  readonly revision: string
  /** Where its files stand. */
  readonly directory: string
}

/**
 * The newest tag `v…`; PREVIOUS_RELEASE names another revision. Null before the first release, and where git or the
 * history is missing, as in a shallow clone. It is removed when the test ends.
 */
export function unpackPreviousRelease(t: Test): Release | null {
  const name =
    process.env['PREVIOUS_RELEASE'] ??
    git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD')
  const revision =
    name === null ? null : git('rev-parse', '--verify', '--short', `${name}^{commit}`)
  if (revision === null) return null
  const directory = mkdtempSync(join(tmpdir(), 'runledger-release-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
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

// The checkout may be another user's than root's, who runs the tests.
const trust = ['-c', 'safe.directory=*']

/** What git says; null when it says nothing, or fails. */
function git(...parameters: string[]): string | null {
  const { status, stdout } = spawnSync('git', [...trust, ...parameters], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null
}
