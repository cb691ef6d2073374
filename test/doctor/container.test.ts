// The doctor's findings on a container engine's flags, with files as podman and docker leave them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { examineContainer } from '../../src/doctor/container.ts'
import type { Finding } from '../../src/doctor/host.ts'
import { bareHost, layOutProcess } from './broken-host.ts'
import { makeDirectory } from '../helper/directory.ts'

const all = 'CapBnd:\t00000000002801e3'
const mounts = {
  proc: '22 1 0:21 / /proc rw - proc proc rw',
  covered: '40 22 0:5 /null /proc/kcore rw - tmpfs tmpfs rw',
  open: '30 1 0:7 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory',
  closed: '30 1 0:7 / /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory',
  closedUnified: '30 1 0:7 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw',
}

interface Layout {
  readonly engine?: 'podman' | 'docker' | null
  readonly uid?: number
  readonly capabilities?: string
  readonly mountinfo?: readonly string[]
  readonly profile?: string
}

function examine(t: Test, layout: Layout): Finding[] {
  const { engine = 'podman', capabilities = all, mountinfo = [mounts.proc, mounts.open] } = layout
  const root = makeDirectory(t, 0o755)
  if (engine === 'docker') writeFileSync(join(root, '.dockerenv'), '')
  const processDirectory = layOutProcess(t, {
    'self/environ': engine === 'podman' ? 'PATH=/bin\0container=podman' : 'PATH=/bin',
    '1/status': `Name:\tbash\n${capabilities}\n`,
    'self/mountinfo': mountinfo.join('\n'),
    'self/attr/current': layout.profile ?? '',
  })
  return examineContainer({ ...bareHost, processDirectory, uid: layout.uid ?? 0 }, root)
}

const troubles = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ level }) => level !== 'ok')

t.test('outside of a container nothing is said', async (t) => {
  t.strictSame(examine(t, { engine: null, capabilities: 'CapBnd:\t0' }), [])
})

t.test('a container that has all is one row', async (t) => {
  for (const engine of ['podman', 'docker'] as const)
    t.match(examine(t, { engine }), [{ name: 'container', level: 'ok', detail: RegExp(engine) }])
})

t.test('each capability that is missing is named, for both engines', async (t) => {
  const found = troubles(examine(t, { capabilities: 'CapBnd:\t00000000000801e3' }))
  t.equal(found.length, 1)
  t.match(found[0], {
    name: 'container caps',
    level: 'missing',
    remedy: 'podman run --cap-add=SYS_ADMIN …; docker run --cap-add=SYS_ADMIN …',
  })
  const none = troubles(examine(t, { capabilities: 'CapBnd:\t0000000000000000' }))
  t.match(none[0], { remedy: /--cap-add=CHOWN,DAC_OVERRIDE,KILL,SETGID,SETUID,SETPCAP,/u })
  t.match(none[0], { remedy: /docker run --cap-add=CHOWN --cap-add=DAC_OVERRIDE /u })
})

t.test('one that is not root is not asked for capabilities', async (t) => {
  t.strictSame(troubles(examine(t, { uid: 1000, capabilities: 'CapBnd:\t0' })), [])
})

t.test('a covered /proc, closed cgroups, a profile', async (t) => {
  const name = (mountinfo: readonly string[], profile = ''): readonly Finding[] =>
    troubles(examine(t, { mountinfo, profile }))
  t.match(name([mounts.proc, mounts.covered, mounts.open]), [
    { level: 'warning', remedy: /unmask=\/proc\/\* .*systempaths=unconfined/u },
  ])
  t.match(name([mounts.proc, mounts.closed]), [
    { level: 'missing', detail: /cgroup\/memory/u, remedy: /podman run --cap-add=SYS_ADMIN/u },
  ])
  t.match(name([mounts.proc, mounts.closedUnified]), [
    {
      level: 'missing',
      remedy: /podman run --cap-add=SYS_ADMIN .*docker run --cap-add=SYS_ADMIN/u,
    },
  ])
  t.match(name([mounts.proc]), [{ level: 'missing', detail: /none/u }])
  t.match(name([mounts.proc, mounts.open], 'docker-default (enforce)'), [
    { level: 'warning', remedy: /apparmor=unconfined/u },
  ])
})
