// Another revision of this repository beside the checkout, for as long as it is measured.
// It stands in the checkout, on the same disk, and where everybody may go: the slots' users read the worker's own files
// there (a box shows some of them), and a worker whose files they cannot read does without its fast box.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Its files; disposing of it removes them. */
export interface Worktree extends Disposable {
  readonly path: string
}

/** @param checkout whose packages it shares, if it has the same ones; else it gets its own. */
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
    // The whole of it, whatever our umask.
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

/** The first directory on the way to a path that others than its owner may not pass; null without one. */
export function findClosedDirectory(path: string): string | null {
  const above = dirname(path)
  const closed = above === path ? null : findClosedDirectory(above)
  if (closed !== null) return closed
  return (statSync(path).mode & 0o001) === 0 ? path : null
}
