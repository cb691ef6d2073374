// The revision that a bench compares with: the users of a worker's slots must be able to read its files, otherwise no worker
// of it starts.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { findClosedDirectory, makeWorktree } from '../../bench/worktree.ts'
import { makeDirectory } from '../helper/directory.ts'

/** Makes a repository with one file that other users cannot read. */
function makeCheckout(t: Test): string {
  const checkout = makeDirectory(t)
  chmodSync(checkout, 0o755)
  mkdirSync(join(checkout, 'node_modules'))
  mkdirSync(join(checkout, 'src'))
  writeFileSync(join(checkout, 'src', 'preload.cjs'), '')
  const git = (...words: string[]): void => {
    execFileSync('git', ['-C', checkout, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words])
  }
  git('init', '--quiet')
  git('add', 'src')
  git('commit', '--quiet', '--message', 'one')
  return checkout
}

t.test('everybody may read what is measured, and nothing is left of it', (t) => {
  const checkout = makeCheckout(t)
  const umask = process.umask(0o077)
  t.teardown(() => process.umask(umask))
  let path = ''
  {
    using worktree = makeWorktree(checkout, 'HEAD')
    path = worktree.path
    t.equal(findClosedDirectory(join(path, 'src')), null)
    t.ok(existsSync(join(path, 'src', 'preload.cjs')))
    t.notMatch(relative(checkout, path), /^\.\./, 'it is on the disk of the checkout')
  }
  t.notOk(existsSync(path))
  t.equal(
    execFileSync('git', ['-C', checkout, 'worktree', 'list']).toString().split('\n').length,
    2,
  )
  t.end()
})

t.test('a directory that others may not pass is found', (t) => {
  const checkout = makeCheckout(t)
  const closed = join(checkout, 'closed')
  mkdirSync(join(closed, 'open'), { recursive: true })
  t.equal(findClosedDirectory(join(closed, 'open')), null)
  chmodSync(closed, 0o700)
  t.equal(findClosedDirectory(join(closed, 'open')), closed)
  t.end()
})
