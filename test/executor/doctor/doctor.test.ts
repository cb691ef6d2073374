import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { defaultSettings } from '#language'
import { examineCapabilities } from '../../../src/executor/doctor/capability.ts'
import { examineHost, formatFindings } from '../../../src/executor/doctor/doctor.ts'
import type { Finding } from '../../../src/executor/doctor/doctor.ts'
import { showCheckout } from '../../helper/checkout.ts'
import { accelerated } from '../../helper/executor.ts'
import {
  examine,
  examineInside,
  layOutPrograms,
  layOutProcess,
  makeDirectory,
  pick,
} from './broken-host.ts'

// A bound for a machine in emulation; ordinarily all of it takes some seconds.
t.setTimeout(600_000)

/** What a box takes. */
const box = ['bwrap', 'setpriv']

// Root alone can lay these hosts out; as another user the test would only say so.
const needsRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }

t.test('a host on which the sandbox works lacks nothing', async (t) => {
  const findings = examineInside(['env'], '', { cacheDirectory: makeDirectory(t) })
  t.strictSame(
    findings.filter(({ level }) => level === 'missing'),
    [],
  )
  t.match(pick(findings, 'box').detail, /filter on, 7 fresh namespaces, no network/u)
  for (const { name, level, remedy } of findings)
    t.equal(remedy === null, level === 'ok', `${name} has a remedy just when one is needed`)
})

t.test('kernel', async (t) => {
  const at = (release: string, version = ''): ReturnType<typeof examine> =>
    examine('kernel', {
      processDirectory: layOutProcess(t, { 'sys/kernel/osrelease': release, version }),
    })
  t.match(await at('4.19.0-27-amd64'), { level: 'missing', detail: /older than 5\.10/u })
  t.match(await at('6.18.44'), { level: 'ok', remedy: null })
  t.match(await at('6.18.28'), { level: 'ok' })
  t.match(await at('7.1.0'), { level: 'ok' })
  t.match(await at('6.18.27'), { level: 'warning', detail: /Dirty Frag/u })
  t.match(await at('6.12.50'), { level: 'warning', detail: /Dirty Frag/u })
  t.match(await at('6.17.9'), { level: 'warning', detail: /Dirty Frag/u })
  t.match(await at('5.10.50'), { level: 'warning', detail: /Dirty Pipe.* and .*Dirty Frag/u })
  const debian =
    'Linux version 6.1.0-47-amd64 (a@b) (gcc-12) #1 SMP PREEMPT_DYNAMIC Debian 6.1.187-1'
  t.match(await at('6.1.0-43-amd64', `${debian} (2026-02-01)`), { level: 'warning' })
  t.match(await at('6.1.0-47-amd64', `${debian} (2026-10-02)`), { level: 'ok' })
  const ubuntu =
    'Linux version 6.8.0-130-generic (b@c) (gcc) #130-Ubuntu SMP PREEMPT_DYNAMIC Sat Sep  5 02:02:36 UTC 2026'
  t.match(await at('6.8.0-130-generic', ubuntu), { level: 'ok' })
  t.match(await at('5.15.0-200-generic', ubuntu), { level: 'warning', detail: /memory\.peak/u })
  const none = layOutProcess(t, { 'sys/kernel/osrelease': null })
  t.match(await examine('kernel', { processDirectory: none }), { level: 'missing' })
})

t.test('an architecture without a reviewed filter', async (t) => {
  t.match(await examine('architecture', { architecture: 'riscv64' }), {
    level: 'missing',
    detail: /riscv64/u,
    remedy: /x86_64 or aarch64/u,
  })
})

const processCases = [
  [
    'no seccomp in the kernel',
    'seccomp',
    { 'self/status': 'Name:\tnode\n' },
    'missing',
    /no system call filter/u,
    /CONFIG_SECCOMP_FILTER/u,
  ],
  [
    'a seccomp that cannot kill',
    'seccomp',
    { 'sys/kernel/seccomp/actions_avail': 'kill_thread errno allow\n' },
    'missing',
    /kill_process/u,
    /CONFIG_SECCOMP_FILTER/u,
  ],
  [
    'no user namespaces in the kernel',
    'user namespaces',
    { 'sys/user/max_user_namespaces': null },
    'missing',
    /none/u,
    /CONFIG_USER_NS/u,
  ],
  [
    'user namespaces turned off',
    'user namespaces',
    { 'sys/user/max_user_namespaces': '0\n' },
    'missing',
    /is 0/u,
    /sysctl -w user\.max_user_namespaces/u,
  ],
  [
    'user namespaces for root only',
    'user namespaces',
    { 'sys/kernel/unprivileged_userns_clone': '0\n' },
    'missing',
    /unprivileged_userns_clone is 0/u,
    /sysctl -w kernel\.unprivileged_userns_clone=1/u,
  ],
  [
    'AppArmor on user namespaces',
    'user namespaces',
    { 'sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' },
    'warning',
    /AppArmor/u,
    /bwrap-userns-restrict/u,
  ],
  [
    'a core pattern that starts a program',
    'core pattern',
    { 'sys/kernel/core_pattern': '|/usr/share/apport/apport -p%p\n' },
    'warning',
    /apport on the host/u,
    /sysctl -w kernel\.core_pattern=core/u,
  ],
  [
    'swap',
    'swap',
    {
      swaps:
        'Filename Type Size Used Priority\n/swapfile file 2097148 0 -2\n/dev/sdb partition 10 0 -3\n',
    },
    'warning',
    /\/swapfile, \/dev\/sdb/u,
    /swapoff -a/u,
  ],
  [
    'a /proc covered in part',
    'proc',
    {
      'self/mountinfo':
        '20 1 0:5 / /proc rw - proc proc rw\n21 20 0:6 / /proc/kcore rw - tmpfs tmpfs rw\n22 20 0:6 / /proc/keys rw - tmpfs tmpfs rw\n',
    },
    'warning',
    /2 paths/u,
    /systempaths=unconfined/u,
  ],
  [
    'Node as process 1',
    'init',
    { '1/cmdline': '/usr/local/bin/node\0src/worker/worker.ts\0' },
    'warning',
    /process 1 is node/u,
    /docker run --init/u,
  ],
  ['no cgroups at all', 'cgroup', {}, 'missing', /neither v1 nor v2/u, /mount -t cgroup2/u],
  [
    'an unreadable /proc/self/cgroup',
    'cgroup',
    { 'self/cgroup': null },
    'missing',
    /cannot be read/u,
    /mount -t proc/u,
  ],
] as const

for (const [title, name, differences, level, detail, remedy] of processCases)
  t.test(title, async (t) => {
    const processDirectory = layOutProcess(t, differences)
    t.match(await examine(name, { processDirectory }), { level, detail, remedy })
    if (name !== 'cgroup')
      t.match(await examine(name, { processDirectory: layOutProcess(t, {}) }), { level: 'ok' })
  })

t.test('cgroup file systems', async (t) => {
  const directory = makeDirectory(t)
  const version2 = (files: Readonly<Record<string, string>>, swaps = ''): string => {
    const tree = makeDirectory(t)
    for (const [file, text] of Object.entries(files)) writeFileSync(join(tree, file), text)
    return layOutProcess(t, {
      'self/mountinfo': `30 1 0:7 / ${tree} rw - cgroup2 cgroup2 rw\n`,
      swaps: `Filename Type Size Used Priority\n${swaps}`,
    })
  }
  const version1 = (controllers: readonly string[]): string =>
    layOutProcess(t, {
      'self/mountinfo': controllers
        .map((name, index) =>
          `${30 + index} 1 0:7 / ${directory} rw - cgroup cgroup rw,${name}`.replace(
            directory,
            makeDirectory(t),
          ),
        )
        .join('\n'),
      'self/cgroup': controllers.map((name, index) => `${index + 1}:${name}:/`).join('\n'),
      swaps: 'Filename Type Size Used Priority\n/swapfile file 1 0 -2\n',
    })

  t.test('an empty directory in place of the tree', async (t) => {
    const processDirectory = version2({})
    t.match(await examine('cgroup delegation', { processDirectory }), {
      level: 'missing',
      detail: /ENOENT/u,
      remedy: /mount -t cgroup2/u,
    })
  })
  t.test('plain files in place of the tree', async (t) => {
    const processDirectory = version2({ 'cgroup.controllers': 'cpu memory pids\n' })
    t.match(await examine('cgroup delegation', { processDirectory }), {
      level: 'missing',
      detail: /no cgroup of the kind/u,
    })
  })
  t.test('v2 without the memory controller', async (t) => {
    const processDirectory = version2({ 'cgroup.controllers': 'cpuset cpu pids\n' })
    t.match(await examine('cgroup memory', { processDirectory }), {
      level: 'missing',
      detail: /is not given it/u,
      remedy: /cgroup_enable=memory/u,
    })
    t.match(await examine('cgroup pids', { processDirectory }), { level: 'ok' })
  })
  t.test('v2 without the cpu controller', async (t) => {
    const processDirectory = version2({ 'cgroup.controllers': 'memory pids\n' })
    t.match(await examine('cgroup cpu', { processDirectory }), { level: 'warning' })
  })
  t.test('a worker in a leaf of the subtree that was given to it', async (t) => {
    // As systemd makes it (Delegate=yes, DelegateSubgroup=supervisor): the leaf itself is given no controller.
    const tree = makeDirectory(t)
    const service = join(tree, 'system.slice/worker.service')
    const leaf = join(service, 'supervisor')
    mkdirSync(leaf, { recursive: true })
    for (const [directory, controllers] of [
      [service, 'cpu memory pids\n'],
      [leaf, '\n'],
    ] as const) {
      writeFileSync(join(directory, 'cgroup.controllers'), controllers)
      writeFileSync(join(directory, 'cgroup.subtree_control'), '\n')
      writeFileSync(join(directory, 'cgroup.type'), 'domain\n')
    }
    writeFileSync(join(service, 'memory.swap.max'), 'max\n')
    const processDirectory = layOutProcess(t, {
      'self/mountinfo': `30 1 0:7 / ${tree} rw - cgroup2 cgroup2 rw\n`,
      'self/cgroup': '0::/system.slice/worker.service/supervisor\n',
      swaps: 'Filename Type Size Used Priority\n/swapfile file 1 0 -2\n',
    })
    for (const name of ['cgroup memory', 'cgroup pids', 'swap accounting'])
      t.match(await examine(name, { processDirectory }), { level: 'ok' }, name)
    // A made group stays empty in a plain directory; what it was made in is the service's group, not the leaf.
    t.match(await examine('cgroup delegation', { processDirectory }), {
      detail: new RegExp(`made in ${service} `, 'u'),
    })
  })
  t.test('v1 without pids', async (t) => {
    const processDirectory = version1(['memory', 'cpuacct', 'freezer'])
    t.match(await examine('cgroup pids', { processDirectory }), {
      level: 'missing',
      detail: 'not mounted',
      remedy: /mount -t cgroup -o pids/u,
    })
    t.match(await examine('cgroup cpu', { processDirectory }), { level: 'warning' })
  })
  t.test('v1 with nothing that kills all at once', async (t) => {
    const processDirectory = version1(['memory', 'cpuacct', 'pids'])
    t.match(await examine('cgroup kill', { processDirectory }), {
      level: 'missing',
      remedy: /mount -t cgroup2/u,
    })
  })
  t.test('v1 beside a v2 tree that cannot kill all at once', async (t) => {
    const tree = makeDirectory(t)
    const files = {
      'self/mountinfo': `30 1 0:7 / ${tree}/m rw - cgroup cgroup rw,memory\n31 1 0:8 / ${tree} rw - cgroup2 cgroup2 rw\n`,
      'self/cgroup': '2:memory:/\n0::/\n',
    }
    t.match(await examine('cgroup kill', { processDirectory: layOutProcess(t, files) }), {
      level: 'missing',
      detail: /no cgroup\.kill/u,
      remedy: /^mount -t cgroup -o freezer .*kernel ≥ 5\.14/u,
    })
  })
  t.test('swap that is on and not counted', async (t) => {
    const processDirectory = version1(['memory', 'cpuacct', 'pids'])
    t.match(await examine('swap accounting', { processDirectory }), {
      level: 'missing',
      remedy: /swapoff -a/u,
    })
  })
})

t.test('a cgroup tree that is mounted read-only', needsRoot, async (t) => {
  const findings = examineInside(
    ['unshare', '--mount'],
    `grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5 | while read at; do mount -o remount,bind,ro "$at"; done`,
  )
  const broken = findings.filter(({ detail }) => detail.startsWith('EROFS'))
  t.ok(broken.length > 0, 'every hierarchy is found read-only')
  for (const finding of broken)
    t.match(finding, {
      level: 'missing',
      name: /^cgroup/u,
      remedy: /writable-cgroups.*remount,bind,rw/u,
    })
})

/** What a worker of that uid says when it may not make its cgroups. */
function refuseCgroups(uid: number): string {
  const { launcher, rename } = showCheckout()
  const room = rename(resolve(import.meta.dirname, '../../../src/executor/cgroup'))
  const program = `import { openCgroupParent } from '${room}/cgroup.ts'
    import { nameWorkerGroup } from '${room}/worker-group.ts'
    try { await openCgroupParent(nameWorkerGroup()) } catch (error) { console.log(String(error)) }`
  const user = `setpriv --reuid=${uid} --regid=${uid} --clear-groups env -u NODE_OPTIONS`
  const node = [rename(process.execPath), '--input-type=module', '-e', program]
  const [command = '', ...words] = [...launcher, ...user.split(' '), ...node]
  return execFileSync(command, words, { encoding: 'utf8' })
}

t.test('rights that root does not have here', async (t) => {
  const at = (name: string, mask: string): Finding => {
    const files = { 'self/status': `Seccomp:\t0\nCapEff:\t${mask}\n` }
    return pick(examineCapabilities({ processDirectory: layOutProcess(t, files), uid: 0 }), name)
  }
  t.match(at('capabilities', '000001ffffffffff'), { level: 'ok' })
  t.match(at('capabilities', '000001fffff7ffff'), {
    level: 'warning',
    detail: /without SYS_PTRACE: boxes work/u,
    remedy: /--cap-add SYS_PTRACE/u,
  })
  t.match(at('capabilities', '000001fffffffffd'), {
    level: 'warning',
    detail: /without DAC_OVERRIDE/u,
  })
  t.match(at('capabilities', '000001ffffffff7f'), {
    level: 'missing',
    detail: /without SETUID here/u,
    remedy: /--cap-add SETUID/u,
  })
})

t.test('a box that may not be looked at is not blamed on bubblewrap', needsRoot, async (t) => {
  const without = ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace']
  t.match(pick(examineInside(without, ''), 'box'), {
    level: 'warning',
    detail: /without SYS_PTRACE/u,
    remedy: /--cap-add SYS_PTRACE/u,
  })
})

t.test('a cgroup tree that belongs to somebody else', needsRoot, async (t) => {
  const findings = examineInside(
    ['setpriv', '--reuid=61998', '--regid=61998', '--clear-groups'],
    '',
  )
  const broken = findings.filter(({ detail }) => /^E(ACCES|PERM): .*owned by uid 0/u.test(detail))
  t.ok(broken.length > 0)
  // systemd delegates version 2 alone.
  const isSecond = pick(findings, 'cgroup').detail.startsWith('v2')
  const remedy = isSecond ? /Delegate=yes/u : /chown -R USER/u
  for (const finding of broken) t.match(finding, { level: 'missing', remedy })
  if (!isSecond) {
    // The worker names the same ones, all at once.
    const told = refuseCgroups(61_998)
    for (const { name, detail } of broken.filter(({ name }) => name !== 'cgroup kill')) {
      const [group = ''] = /\/\S*/u.exec(detail) ?? []
      t.ok(told.includes(`'${group}/runledger-`), `${name}: ${group} in: ${told}`)
    }
  }
  t.match(pick(findings, 'user'), {
    level: 'warning',
    detail: /share that uid/u,
    remedy: /as root/u,
  })
  t.match(pick(findings, 'box'), { level: 'ok', detail: /host uid 61998/u })
})

t.test('a user namespace in which no further one can be made', needsRoot, async (t) => {
  const findings = examineInside(
    ['unshare', '--user', '--map-root-user'],
    'echo 0 > /proc/sys/user/max_user_namespaces',
    { uid: 61998 },
  )
  t.match(pick(findings, 'user namespaces'), { level: 'missing', detail: /is 0/u })
  t.match(pick(findings, 'box'), {
    level: 'missing',
    remedy: /sysctl -w user\.max_user_namespaces/u,
  })
})

t.test('a /proc covered as in a nested container', needsRoot, async (t) => {
  const findings = examineInside(
    ['unshare', '--mount'],
    `grep -- ' - proc ' /proc/self/mountinfo | cut -d' ' -f5 | while read at; do mount --bind /dev/null "$at/uptime"; done`,
  )
  t.match(pick(findings, 'proc'), { level: 'warning', detail: /paths below/u })
  t.match(pick(findings, 'box'), {
    level: 'missing',
    detail: /proc/u,
    remedy: /systempaths=unconfined/u,
  })
})

/** What a finding takes besides the program it is about. */
const own: Readonly<Record<string, readonly string[]>> = {
  box: ['setpriv'],
}

t.test('what keepers need is a warning, as bubblewrap stands in for them', async (t) => {
  const at = (name: string, gcc: string | null): ReturnType<typeof examine> =>
    examine(name, { programDirectories: [layOutPrograms(t, { gcc }, [])] })
  const hierarchies = {
    v1: {
      'self/mountinfo': '30 1 0:7 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n',
      'self/cgroup': '1:memory:/\n',
    },
    v2: {
      'self/mountinfo': '30 1 0:7 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
      'self/cgroup': '0::/\n',
    },
  }
  const release = (text: string, version: 'v1' | 'v2'): ReturnType<typeof examine> =>
    examine('keeper kernel', {
      processDirectory: layOutProcess(t, {
        'sys/kernel/osrelease': text,
        ...hierarchies[version],
      }),
    })
  t.match(await release('5.10.0-40-amd64', 'v1'), {
    level: 'warning',
    detail: /older than 5\.14, with cgroup v1/u,
  })
  t.match(await release('5.14.0-1', 'v1'), { level: 'ok' })
  // memory.peak, which a keeper reads there, is younger than all else.
  t.match(await release('5.15.0-179-generic', 'v2'), {
    level: 'warning',
    detail: /older than 5\.19, with cgroup v2/u,
  })
  t.match(await release('5.19.0', 'v2'), { level: 'ok' })
  t.match(await release('6.1.0', 'v2'), { level: 'ok' })
  t.match(await at('keeper compiler', null), {
    level: 'warning',
    detail: /gcc not found: boxes are made by bubblewrap/u,
    remedy: /apt-get install gcc/u,
  })
  t.match(await at('keeper compiler', 'echo "linux/mount.h: error: no such file"; exit 1'), {
    level: 'warning',
    detail: /does not compile the keeper \(linux\/mount\.h: error/u,
  })
  t.match(await at('keeper compiler', 'echo libc.a'), {
    level: 'warning',
    detail: /no static C library/u,
    remedy: /libc6-dev/u,
  })
  t.match(await examine('keeper compiler', { programDirectories: ['/usr/bin'] }), { level: 'ok' })
})

t.test('programs that are missing or too old', async (t) => {
  const at = (
    name: string,
    differences: Readonly<Record<string, string | null>>,
    uid = 0,
  ): ReturnType<typeof examine> =>
    examine(name, {
      programDirectories: [layOutPrograms(t, differences, own[name] ?? [])],
      libraryDirectory: '/nonexistent',
      uid,
    })
  const cases = [
    ['bubblewrap', { bwrap: null }, 'missing', /not found/u, 'apt-get install bubblewrap'],
    ['box', { bwrap: null }, 'missing', /not tried/u, /apt-get install bubblewrap/u],
    [
      'bubblewrap',
      { bwrap: 'echo bubblewrap 0.4.0' },
      'missing',
      /0\.4\.0 is older than 0\.8/u,
      /Debian ≥ 12/u,
    ],
    ['bubblewrap', { bwrap: 'echo bubblewrap 0.11.2' }, 'ok', 'bubblewrap 0.11.2', null],
    ['bubblewrap', { bwrap: 'echo bubblewrap 1.0' }, 'ok', 'bubblewrap 1.0', null],
    ['bubblewrap', { bwrap: 'exit 127' }, 'missing', /--version/u, /--reinstall bubblewrap/u],
    ['sh', {}, 'missing', 'not found', 'apt-get install dash'],
    ['sh', { sh: '' }, 'ok', /sh$/u, null],
    ['mkfifo', {}, 'missing', 'not found', 'apt-get install coreutils'],
    ['mkfifo', { mkfifo: '' }, 'ok', /mkfifo$/u, null],
    ['setpriv', { setpriv: null }, 'missing', /not found/u, 'apt-get install util-linux'],
    ['setpriv', { setpriv: 'exit 1' }, 'missing', /./u, /--reinstall util-linux/u],
    ['python', { python3: null }, 'missing', 'python3 not found', 'apt-get install python3'],
    [
      'python',
      { python3: 'echo Python 2.7.18' },
      'missing',
      /2\.7\.18 is older/u,
      'apt-get install python3',
    ],
    ['cpp', { 'g++': null }, 'missing', 'g++ not found', 'apt-get install g++'],
    [
      'cpp',
      { 'g++': 'echo "g++ (Debian 8.3.0-6) 8.3.0"' },
      'missing',
      /older than 10/u,
      'apt-get install g++',
    ],
    ['java', { javac: null }, 'missing', /javac not found/u, /default-jdk-headless/u],
  ] as const
  for (const [name, differences, level, detail, remedy] of cases)
    t.match(await at(name, differences), { name, level, detail, remedy })
})

/** A directory with a JDK of each major version, of which only the words are real. */
function layOutJdks(
  t: Test,
  homes: Readonly<Record<string, { javac?: string; java?: string; without?: string }>>,
): string {
  const libraryDirectory = makeDirectory(t)
  for (const [major, { javac, java, without }] of Object.entries(homes)) {
    const home = join(libraryDirectory, `jvm/java-${major}`)
    const files = {
      release: `JAVA_VERSION="${major}.0.4"\n`,
      'bin/javac': `#!/bin/sh\n${javac ?? `echo javac ${major}.0.4`}\n`,
      'bin/java': `#!/bin/sh\n${java ?? `echo 'openjdk version "${major}.0.4" 2026-10-20' >&2`}\n`,
      'lib/modules': '',
      'lib/server/libjvm.so': '',
      'conf/security/java.security': '',
    }
    for (const [name, text] of Object.entries(files)) {
      if (name === without) continue
      mkdirSync(dirname(join(home, name)), { recursive: true })
      writeFileSync(join(home, name), text, { mode: 0o755 })
    }
  }
  return libraryDirectory
}

t.test('the newest whole JDK is taken, on the path or not', async (t) => {
  const libraryDirectory = layOutJdks(t, { 8: {}, 17: {}, 21: {}, 25: { without: 'bin/java' } })
  t.match(await examine('java', { libraryDirectory }), {
    level: 'ok',
    detail: /21\.0\.4.*java-21/u,
  })
})

t.test('JAVA_HOME is looked at as the worker looks at it', async (t) => {
  const libraryDirectory = layOutJdks(t, { 17: {}, 21: {} })
  const look = (JAVA_HOME: string): ReturnType<typeof examine> =>
    examine('java', { libraryDirectory, settings: { ...defaultSettings, JAVA_HOME } })
  t.match(await look(join(libraryDirectory, 'jvm/java-17')), { level: 'ok', detail: /17\.0\.4/u })
  t.match(await look('/nonexistent'), {
    level: 'missing',
    detail: /no complete JDK in \/nonexistent/u,
    remedy: /^JAVA_HOME names no JDK .*default-jdk-headless/u,
  })
})

t.test('a JDK that will not do', async (t) => {
  const cases = [
    [
      { 17: { java: 'echo cannot load libjvm >&2; exit 6' } },
      /cannot load libjvm/u,
      /--reinstall/u,
    ],
    [
      { 17: { java: 'echo \'openjdk version "1.8.0_392"\' >&2' } },
      /1\.8\.0_392.* is older than 11/u,
      /default-jdk/u,
    ],
    [{ 17: { javac: 'echo javac 21.0.4' } }, /javac 21 .* java 17/u, /--reinstall default-jdk/u],
    [{ 17: { without: 'lib/modules' } }, /no complete JDK in .*: no lib\/modules/u, /default-jdk/u],
  ] as const
  for (const [homes, detail, remedy] of cases)
    t.match(await examine('java', { libraryDirectory: layOutJdks(t, homes) }), {
      level: 'missing',
      detail,
      remedy,
    })
})

t.test('languages that are missing beside one that is there are named', async (t) => {
  const some = {
    programDirectories: [layOutPrograms(t, {}, ['python3'])],
    libraryDirectory: '/nonexistent',
    languages: accelerated,
  }
  const findings = await examineHost(some)
  t.match(pick(findings, 'python'), { level: 'ok', detail: /^Python 3\.\d+\.\d+ \(.*python3\)$/u })
  t.match(pick(findings, 'languages'), { level: 'ok', detail: /^not installed: cpp, java / })
})

t.test('a language that is there and broken is a warning', async (t) => {
  const findings = await examineHost({
    programDirectories: [layOutPrograms(t, { 'g++': 'exit 1' }, ['python3'])],
    libraryDirectory: '/nonexistent',
    languages: accelerated,
  })
  t.match(pick(findings, 'cpp'), {
    level: 'warning',
    detail: /g\+\+ --version.*: it is not offered/u,
    remedy: 'apt-get install --reinstall g++',
  })
})

t.test('a cache directory that is not the worker’s is told as that', needsRoot, async (t) => {
  const cacheDirectory = join(makeDirectory(t), 'cache')
  mkdirSync(join(cacheDirectory, 'precompiled-header'), { recursive: true })
  const as = (uid: number): readonly Finding[] =>
    examineInside(['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'], '', {
      cacheDirectory,
    })
  const fault = {
    level: 'missing',
    detail: /is not the worker's: .* belongs to uid 0, the worker is uid 61998/u,
    remedy: /chown -R 61998 .*CACHE_DIRECTORY/u,
  }
  const findings = as(61_998)
  t.match(pick(findings, 'cache directory'), fault)
  t.match(pick(findings, 'cpp'), { level: 'ok' }, 'no language is blamed for it')
  chownSync(cacheDirectory, 61_998, 61_998)
  t.match(pick(as(61_998), 'cache directory'), fault, 'what is in it is looked at too')
  chownSync(join(cacheDirectory, 'precompiled-header'), 61_998, 61_998)
  t.match(pick(as(61_998), 'cache directory'), { level: 'ok' })
})

t.test('a set-uid bubblewrap', async (t) => {
  const directory = layOutPrograms(t, {}, ['setpriv'])
  copyFileSync('/usr/bin/bwrap', join(directory, 'bwrap'))
  chmodSync(join(directory, 'bwrap'), 0o4755)
  t.match(await examine('bubblewrap', { programDirectories: [directory] }), {
    level: 'missing',
    detail: /set-uid/u,
    remedy: /^chmod u-s,g-s /u,
  })
  t.match(await examine('box', { programDirectories: [directory] }), { detail: /not tried/u })
})

t.test('what bubblewrap says when it is refused has the remedy beside it', async (t) => {
  const cases = [
    ['bwrap: setting up uid map: Permission denied', /apparmor_restrict_unprivileged_userns=0/u],
    [
      'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
      /apparmor_restrict_unprivileged_userns=0/u,
    ],
    [
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      /systempaths=unconfined/u,
    ],
    [
      'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See <https://deb.li/bubblewrap> or <file:///usr/share/doc/bubblewrap/README.Debian.gz>.',
      /seccomp=unconfined/u,
    ],
    ['bwrap: Creating new namespace failed: Operation not permitted', /seccomp=unconfined/u],
    [
      'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      /max_user_namespaces=15000/u,
    ],
    ['bwrap: Unknown option --disable-userns', /≥ 0\.8/u],
    ['bwrap: prctl(PR_SET_SECCOMP): Invalid argument', /CONFIG_SECCOMP_FILTER/u],
    ['setpriv: setresuid failed: Operation not permitted', /CAP_SETUID/u],
    ['bwrap: pivot_root: Permission denied', /audit log/u],
  ] as const
  for (const [words, remedy] of cases) {
    const bwrap = `[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }\ncat <<'END' >&2\n${words}\nEND\nexit 1`
    const programDirectories = [layOutPrograms(t, { bwrap }, box)]
    t.match(await examine('box', { programDirectories }), {
      level: 'missing',
      detail: words,
      remedy,
    })
  }
})

// A bubblewrap that leaves out some of what it was asked for: the box stands, and is not what was promised.
const forgetful = (pattern: string): string =>
  `[ "$1" = --version ] && exec /usr/bin/bwrap --version\nexec /usr/bin/bwrap $(tr '\\0' ' ' <&3 | sed 's/${pattern}//') "$@"`

t.test('a box that is weaker than promised counts as none', async (t) => {
  const cases = [
    ['--seccomp 4', /Seccomp is 0/u],
    ['--unshare-net', /shares the host's net namespace/u],
    ['--unshare-ipc', /shares the host's ipc namespace/u],
    ['--unshare-cgroup', /shares the host's cgroup namespace/u],
    ['--uid 1000', /Uid is/u],
  ] as const
  for (const [pattern, detail] of cases) {
    const programDirectories = [layOutPrograms(t, { bwrap: forgetful(pattern) }, box)]
    t.match(await examine('box', { programDirectories }), { level: 'missing', detail })
  }
  const programDirectories = [layOutPrograms(t, { bwrap: forgetful('nothing') }, box)]
  t.match(pick(examineInside(['env'], '', { programDirectories }), 'box'), { level: 'ok' })
})

t.test('a box is looked at however late its pid is told', async (t) => {
  // Its words about the box go a longer way than what the box prints.
  const bwrap = `[ "$1" = --version ] && exec /usr/bin/bwrap --version
exec 9>&1
/usr/bin/bwrap "$@" 5>&1 >&9 9>&- | { sleep 2; exec cat >&5; }`
  const programDirectories = [layOutPrograms(t, { bwrap }, box)]
  t.match(pick(examineInside(['env'], '', { programDirectories }), 'box'), { level: 'ok' })
})

t.test('a box that would be root on the host counts as none', needsRoot, async (t) => {
  const setpriv =
    '[ "$1" = --version ] && exec /usr/bin/setpriv --version\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"'
  const programDirectories = [layOutPrograms(t, { setpriv }, box)]
  t.match(await examine('box', { programDirectories }), {
    level: 'missing',
    detail: /host uid is 0/u,
  })
})

t.test('disks that are full', needsRoot, async (t) => {
  const at = makeDirectory(t)
  const mount = (options: string, then = ''): string =>
    `mount -t tmpfs -o ${options} none ${at}\n${then}`
  const look = (setUp: string): unknown =>
    pick(
      examineInside(['unshare', '--mount'], setUp, { cacheDirectory: join(at, 'cache') }),
      'cache disk',
    )
  t.match(look(mount('size=80m', `head -c 79m /dev/zero > ${at}/full`)), {
    level: 'missing',
    detail: /^1 MiB free/u,
    remedy: /du -xhd1/u,
  })
  t.match(look(mount('size=80m')), { level: 'warning', detail: /^80 MiB free/u })
  t.match(look(mount('size=4g,nr_inodes=100')), { level: 'missing', detail: /inodes/u })
  t.match(look(mount('size=4g')), { level: 'ok' })
})

t.test('findings stand in columns, each remedy below its finding', async (t) => {
  const text = formatFindings([
    { name: 'kernel', level: 'ok', detail: 'Linux 6.18', remedy: null },
    { name: 'g++', level: 'missing', detail: 'not found', remedy: 'apt-get install g++' },
    { name: 'swap', level: 'warning', detail: 'on', remedy: 'swapoff -a' },
  ])
  t.equal(
    text,
    [
      '✓ kernel  Linux 6.18',
      '✗ g++     not found',
      '          → apt-get install g++',
      '! swap    on',
      '          → swapoff -a',
    ].join('\n'),
  )
  t.equal(formatFindings([]), '')
})
