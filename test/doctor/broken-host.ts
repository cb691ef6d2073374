// Prepares hosts that lack something, with real files, programs and namespaces, and runs the doctor on them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { defaultSettings } from '#language'
import type { Finding, Host } from '../../src/doctor/host.ts'
import { showCheckout } from '../helper/checkout.ts'
import type { ShownCheckout } from '../helper/checkout.ts'
import { makeDirectory } from '../helper/directory.ts'
import { accelerated } from '../helper/executor.ts'

const healthy: Readonly<Record<string, string>> = {
  'sys/kernel/osrelease': '6.18.44\n',
  version: 'Linux version 6.18.44 (a@b) (gcc) #1 SMP PREEMPT_DYNAMIC\n',
  'sys/kernel/seccomp/actions_avail':
    'kill_process kill_thread trap errno user_notif trace log allow\n',
  'sys/user/max_user_namespaces': '96365\n',
  'sys/kernel/core_pattern': 'core\n',
  swaps: 'Filename\tType\tSize\tUsed\tPriority\n',
  'self/status': 'Name:\tnode\nSeccomp:\t0\n',
  'self/mountinfo': '20 1 0:5 / /proc rw - proc proc rw\n',
  'self/cgroup': '0::/\n',
}

/** Makes a /proc of plain files that describes a sound host, except for `differences`; null omits a file. */
export function layOutProcess(
  t: Test,
  differences: Readonly<Record<string, string | null>>,
): string {
  const directory = makeDirectory(t, 0o755)
  for (const [path, text] of Object.entries({ ...healthy, ...differences })) {
    if (text === null) continue
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  return directory
}

/** Makes a directory of programs: shell scripts, and links to this host's `own` programs. */
export function layOutPrograms(
  t: Test,
  scripts: Readonly<Record<string, string>>,
  own: readonly string[] = [],
): string {
  const directory = makeDirectory(t, 0o755)
  for (const name of own) symlinkSync(`/usr/bin/${name}`, join(directory, name))
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return directory
}

/** Returns the doctor's finding of this name. @throws without one. */
export function pick(findings: readonly Finding[], name: string): Finding {
  const finding = findings.find((candidate) => candidate.name === name)
  if (finding === undefined)
    throw new Error(`no ${name} among ${findings.map((row) => row.name).join(', ')}`)
  return finding
}

/** A worker's default configuration. */
const configured = {
  settings: defaultSettings,
  firstUid: 61_000,
  cacheDirectory: '/var/cache/runledger',
  languages: accelerated,
}

/** A host without programs. */
export const bareHost: Host = {
  ...configured,
  processDirectory: '/proc',
  programDirectories: [],
  libraryDirectory: '/nonexistent',
  uid: process.getuid?.() ?? 0,
}

/** A user other than root sees everything already. */
const hidden: ShownCheckout = { launcher: [], rename: (path) => path }

/**
 * Examines the host from other namespaces, in a separate process.
 * @param launcher the command that makes them, such as `unshare -m`.
 * @param setUp shell lines that run inside first.
 */
export function examineInside(
  launcher: readonly string[],
  setUp: string,
  options: Partial<Host> = {},
): readonly Finding[] {
  const { launcher: show, rename } = process.getuid?.() === 0 ? showCheckout() : hidden
  const doctor = rename(join(import.meta.dirname, '../../src/doctor/doctor.ts'))
  const code = `import { examineHost } from ${JSON.stringify(doctor)}
    console.log(JSON.stringify(await examineHost(${JSON.stringify({ ...configured, ...options })})))`
  const [program, ...words] = [...show, ...launcher, '/bin/sh', '-ec', `${setUp}\nexec "$@"`, 'sh']
  if (program === undefined) throw new Error('no launcher')
  const node = [rename(process.execPath), '--input-type=module', '-e', code]
  const answer: readonly Finding[] = JSON.parse(
    execFileSync(program, [...words, ...node], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  return answer
}
