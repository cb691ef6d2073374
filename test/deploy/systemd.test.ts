// The units of deploy/systemd: systemd accepts them unchanged, and each starts a command of the launcher.
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const folder = resolve(import.meta.dirname, '../../deploy/systemd')
const kinds = ['migrate', 'web', 'worker'] as const

/** Reads a unit's settings; the last one of a name counts. */
function read(kind: string): Map<string, string> {
  const lines = readFileSync(join(folder, `runledger-${kind}.service`), 'utf8').split('\n')
  const settings = lines.filter((line) => /^[A-Z]\w+=/.test(line))
  return new Map(settings.map((line) => [line.replace(/=.*/, ''), line.replace(/^\w+=/, '')]))
}

t.test('each starts its process, and the worker has cgroups of its own', async (t) => {
  for (const kind of kinds) {
    const unit = read(kind)
    t.equal(unit.get('ExecStart'), `/opt/runledger/runledger ${kind}`)
    t.equal(unit.get('EnvironmentFile'), `/etc/runledger/${kind}.env`, 'a login of its own')
    t.equal(unit.get('Delegate'), kind === 'worker' ? 'yes' : undefined, kind)
    t.equal(unit.get('User'), kind === 'worker' ? undefined : 'runledger', kind)
  }
  t.match(read('web').get('ExecReload'), /kill -HUP \$MAINPID$/)
})

t.test('systemd has nothing to say against them', async (t) => {
  if (!existsSync('/usr/bin/systemd-analyze')) {
    t.comment('this machine has no systemd-analyze')
    return
  }
  // On this machine the started program is in another directory.
  const root = t.testdir()
  const launcher = join(root, 'opt/runledger/runledger')
  mkdirSync(join(root, 'opt/runledger'), { recursive: true })
  writeFileSync(launcher, '#!/bin/sh\n', { mode: 0o755 })
  for (const kind of kinds) {
    const name = `runledger-${kind}.service`
    cpSync(join(folder, name), join(root, name))
    const text = readFileSync(join(root, name), 'utf8')
    writeFileSync(join(root, name), text.replaceAll('/opt/runledger', join(root, 'opt/runledger')))
    const { stderr } = await promisify(execFile)('/usr/bin/systemd-analyze', [
      'verify',
      '--man=no',
      join(root, name),
    ]).catch((error: { stderr: string }) => error)
    t.strictSame(
      stderr.split('\n').filter((line) => line.includes('runledger')),
      [],
      stderr,
    )
  }
})
