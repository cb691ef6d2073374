// A bare bubblewrap box under the filter, for probing system calls: the recipe of the executor without its limits, so
// that the filter is tested apart from everything else.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface BoxResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a command in a box; `/src` inside is `directory`, read-only, and `/box` is its own.
 * @param filter the seccomp program; null runs without one, for comparison.
 */
export function runInFilterBox(
  directory: string,
  filter: Buffer | null,
  command: readonly string[],
  input = '',
): BoxResult {
  const filterFile = join(directory, `filter-${process.hrtime.bigint()}.bpf`)
  writeFileSync(filterFile, filter ?? '')
  const descriptor = openSync(filterFile, 'r')
  const drop =
    process.getuid?.() === 0
      ? '--reuid=61999 --regid=61999 --clear-groups --inh-caps=-all --bounding-set=-all'.split(' ')
      : []
  const links = ['bin', 'lib', 'lib64', 'sbin'].filter((name) => existsSync(`/usr/${name}`))
  const configuration = ['/etc/alternatives', '/etc/java-17-openjdk', '/etc/java-21-openjdk']
  const box = [
    ...'--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try'.split(
      ' ',
    ),
    ...'--disable-userns --die-with-parent --new-session --cap-drop ALL --clearenv'.split(' '),
    ...'--setenv PATH /usr/bin --setenv LC_ALL C.UTF-8 --ro-bind /usr /usr'.split(' '),
    ...links.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...configuration.filter(existsSync).flatMap((path) => ['--ro-bind', path, path]),
    ...'--proc /proc --dev /dev --tmpfs /dev/shm --tmpfs /tmp --tmpfs /box --ro-bind'.split(' '),
    directory,
    ...'/src --chdir /box'.split(' '),
    ...(filter === null ? [] : ['--seccomp', '3']),
    '--',
    ...command,
  ]
  try {
    const result = spawnSync('/usr/bin/setpriv', [...drop, '/usr/bin/bwrap', ...box], {
      input,
      encoding: 'utf8',
      env: { PATH: '/usr/bin' },
      stdio: ['pipe', 'pipe', 'pipe', descriptor],
      timeout: 500_000,
      maxBuffer: 1 << 26,
    })
    if (result.error !== undefined) throw result.error
    return result
  } finally {
    closeSync(descriptor)
  }
}
