// make for two ordinary users: one has no sudo, and the other's sudo has created `.data/`.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'

const root = resolve(import.meta.dirname, '../..')

t.test('what takes root says so in a sentence where there is no sudo', async (t) => {
  const path = join(t.testdir(), 'bin')
  mkdirSync(path)
  symlinkSync('/bin/sh', join(path, 'sh'))
  writeFileSync(join(path, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 })
  const words = [
    '--silent',
    '--old-file=node_modules/.installed',
    '--old-file=src/console/dist/console.json',
    'languages',
  ]
  const { status, stdout, stderr } = spawnSync('/usr/bin/make', words, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: path },
  })
  t.strictSame([status, stdout], [2, ''])
  t.match(stderr, /^this needs root, and there is no sudo: run it as root .*\nmake: .* 77\n$/)
})

t.test('what looks at the sources does not look into `.data/`, which may be root’s', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'runledger-test-'))
  const data = join(folder, '.data')
  writeFileSync(join(folder, 'source.json'), '{}\n')
  mkdirSync(data, { mode: 0o000 })
  t.teardown(() => {
    chmodSync(data, 0o700)
    rmSync(folder, { recursive: true })
  })
  const recipe = /prettier (--check .*)$/m.exec(readFileSync(join(root, 'Makefile'), 'utf8'))?.[1]
  // Drops the capabilities that let root read everything.
  const unprivileged = 'setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-all'
  const prettier = `'${process.execPath}' '${root}/node_modules/.bin/prettier'`
  const prefix = process.getuid?.() === 0 ? unprivileged : ''
  const { status, stderr } = spawnSync('/bin/sh', ['-c', `${prefix} ${prettier} ${recipe}`], {
    cwd: folder,
    encoding: 'utf8',
  })
  t.strictSame({ status, stderr }, { status: 0, stderr: '' })
})
