// Checks out another revision of this repository while it is measured. The worktree is inside the checkout, so it is on the
// same disk. Everybody may enter it, because the slots' users read the worker's files there (a box shows some of them), and
// no worker starts whose files they cannot read.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The files of a revision. Disposing of the worktree removes them. */
export interface Worktree extends Disposable {
  readonly path: string
}

/**
 * Makes a worktree of a commit.
 * @param checkout the worktree uses its packages if both need the same ones, and otherwise installs packages.
 */
export function makeWorktree(checkout: string, commit: string): Worktree {
  const directory = mkdtempSync(join(checkout, '.compare-'))
  const path = join(directory, 'base')
  const git = (...parameters: readonly string[]): void => {
    execFileSync('git', ['-C', checkout, 'worktree', ...parameters])
  }
  const remove = (): void => {
    git('remove', '--force', path)
    rmSync(directory, { recursive: true, force: true })
  }
  chmodSync(directory, 0o711)
  git('add', '--quiet', '--detach', path, commit)
  try {
    // All files must be readable, whatever this process's umask is.
    execFileSync('chmod', ['-R', 'go+rX', path])
    const differ = spawnSync('git', [
      '-C',
      checkout,
      'diff',
      '--quiet',
      commit,
      '--',
      'package-lock.json',
      'patches',
    ])
    if (differ.status === 0) symlinkSync(join(checkout, 'node_modules'), join(path, 'node_modules'))
    else
      execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
        cwd: path,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
  } catch (error) {
    remove()
    throw error
  }
  return { path, [Symbol.dispose]: remove }
}

/** Returns the first directory on a path that other users may not enter; null if there is none. */
export function findClosedDirectory(path: string): string | null {
  const above = dirname(path)
  const closed = above === path ? null : findClosedDirectory(above)
  if (closed !== null) return closed
  return (statSync(path).mode & 0o001) === 0 ? path : null
}
