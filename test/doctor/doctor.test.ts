// The doctor's findings on hosts that lack something, and how it prints them.
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { defaultSettings } from '#language'
import { examineHost, formatFindings } from '../../src/doctor/doctor.ts'
import { builtDirectory } from '../../src/executor/box/keeper/build.ts'
import { adviseKernel } from '../../src/doctor/host.ts'
import type { Finding } from '../../src/doctor/host.ts'
import { examineKernel } from '../../src/doctor/kernel.ts'
import { findRemedy } from '../../src/doctor/sandbox.ts'
import { showCheckout } from '../helper/checkout.ts'
import { bareHost, examineInside, layOutPrograms, layOutProcess, pick } from './broken-host.ts'
import { makeDirectory } from '../helper/directory.ts'

// Only root can prepare these hosts; as another user the test would only find that out.
const needsRoot = process.getuid?.() === 0 ? {} : { skip: 'needs root' }

t.test('a host on which the sandbox works lacks nothing', async (t) => {
  const host = { cacheDirectory: makeDirectory(t, 0o755), languages: ['python'] } as const
  const findings = examineInside(['env'], '', host)
  t.strictSame(
    findings.filter(({ level }) => level === 'missing'),
    [],
  )
  t.match(pick(findings, 'kernel'), { detail: /^Linux \d/u })
  t.match(pick(findings, 'box').detail, /no capabilities, filter on, no network; cgroup v[12]/u)
  for (const { name, level, remedy } of findings)
    t.equal(remedy === null, level === 'ok', `${name} has a remedy just when one is needed`)
})

/** Examines the kernel of a host whose /proc differs from that of a sound host, and picks a finding. */
const examineProcess = (t: Test, name: string, differences: Parameters<typeof layOutProcess>[1]) =>
  pick(examineKernel({ ...bareHost, processDirectory: layOutProcess(t, differences) }), name)

t.test('kernel', async (t) => {
  const at = (release: string | null): Finding =>
    examineProcess(t, 'kernel', { 'sys/kernel/osrelease': release })
  for (const release of ['4.19.0-27-amd64', '5.4.300', '5.10.50'])
    t.match(at(release), { level: 'missing', detail: /older than 5\.14/u })
  for (const release of ['5.14.0-503.el9', '5.15.0-200-generic'])
    t.match(at(release), { level: 'warning', detail: /memory\.peak/u })
  for (const release of ['5.19.17', '6.1.0-47-amd64', '6.18.44', '7.1.0', '10.0'])
    t.match(at(release), { level: 'ok', remedy: null })
  t.match(at(null), { level: 'missing' })
  t.match(adviseKernel('x64'), /linux-image-amd64\b/u)
  t.match(adviseKernel('arm64'), /linux-image-arm64\b/u)
})

const processCases = [
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
    'Node as process 1',
    'init',
    { '1/cmdline': '/usr/local/bin/node\0src/worker/worker.ts\0' },
    'warning',
    /process 1 is node/u,
    /docker run --init/u,
  ],
] as const

for (const [title, name, differences, level, detail, remedy] of processCases)
  t.test(title, async (t) => {
    t.match(examineProcess(t, name, differences), { level, detail, remedy })
    t.match(examineProcess(t, name, {}), { level: 'ok' })
  })

const otherMounts = ['unshare', '--mount']
const otherUser = ['setpriv', '--reuid=61998', '--regid=61998', '--clear-groups']
// The path as the doctor inside the namespaces sees the checkout.
const built = process.getuid?.() === 0 ? showCheckout().rename(builtDirectory) : builtDirectory

const brokenHosts = [
  [
    'a cgroup tree that is mounted read-only',
    otherMounts,
    `grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5 | while read at; do mount -o remount,bind,ro "$at"; done`,
    { name: /^cgroup\./u, detail: /EROFS|read-only/u, remedy: /remount,bind,rw/u },
  ],
  [
    'a cgroup tree that belongs to somebody else',
    otherUser,
    '',
    {
      name: /^cgroup\./u,
      detail: /EACCES|EPERM|permission denied/u,
      remedy: /^run the worker as root/u,
    },
  ],
  [
    'no compiler and no keeper',
    otherMounts,
    `mount --bind /dev/null /usr/bin/gcc
    if [ -d ${JSON.stringify(built)} ]; then mount -t tmpfs none ${JSON.stringify(built)}; fi`,
    { name: 'keeper.compile', remedy: /make keeper, or apt-get install gcc libc6-dev/u },
  ],
  [
    'a /proc covered as in a nested container',
    otherMounts,
    `grep -- ' - proc ' /proc/self/mountinfo | cut -d' ' -f5 | while read at; do mount --bind /dev/null "$at/uptime"; done`,
    { name: /^keeper\./u, detail: /box\.proc/u, remedy: /systempaths=unconfined/u },
  ],
] as const

for (const [title, launcher, setUp, expected] of brokenHosts)
  t.test(title, needsRoot, async (t) => {
    const findings = examineInside(launcher, setUp, { languages: ['python'] })
    // Without those about container flags.
    const missing = findings.filter(
      ({ name, level }) => level === 'missing' && !name.startsWith('container'),
    )
    t.match(missing, [expected])
  })

t.test('each step that can fail has its remedy', (t) => {
  const cases = [
    ['seccomp.assemble', 'no reviewed filter for riscv64', /x86_64 or aarch64/u],
    ['keeper.compile', 'spawn /usr/bin/gcc ENOENT', /gcc libc6-dev/u],
    ['cgroup.find', 'no memory cgroup is mounted', /mount -t cgroup2/u],
    ['cgroup.find', 'cgroup v1 is mounted without: "pids"', /mount -t cgroup -o/u],
    ['cgroup.limit', 'swap is on and not accounted; run swapoff', /swapoff -a/u],
    ['cgroup.delegate', '/sys/fs/cgroup/a has no "memory" controller', /Delegate=yes/u],
    ['keeper.start', 'keeper.failed: box.clone: Function not implemented', /kernel ≥ 5\.14/u],
    ['keeper.start', 'setpriv: setresuid failed: Operation not permitted', /CAP_SETUID/u],
    [
      'keeper.start',
      'keeper.failed: keeper.unshare: No space left on device',
      /max_user_namespaces/u,
    ],
    ['keeper.start', 'keeper.failed: keeper.unshare: Operation not permitted', /userns_clone=1/u],
    ['keeper.start', 'keeper.failed: root.pivot: Permission denied', /seccomp=unconfined/u],
    ['keeper.start', 'keeper.failed: box.filter: Invalid argument', /CONFIG_SECCOMP_FILTER/u],
    ['isolation.prove', 'the box lacks: network', /audit log/u],
  ] as const
  for (const [step, message, remedy] of cases)
    t.match(findRemedy(`${step}: ${message}`), remedy, message)
  t.end()
})

t.test('programs that are missing or too old', async (t) => {
  const at = (scripts: Readonly<Record<string, string>>): ReturnType<typeof examineHost> =>
    examineHost({ ...bareHost, programDirectories: [layOutPrograms(t, scripts)] })
  const none = await at({})
  const old = await at({
    python3: 'echo Python 2.7.18',
    'g++': 'echo "g++ (Debian 8.3.0-6) 8.3.0"',
  })
  for (const [findings, name, detail, remedy] of [
    [none, 'python', 'python3 not found', 'apt-get install python3'],
    [none, 'cpp', 'g++ not found', 'apt-get install g++'],
    [none, 'java', /javac not found/u, /default-jdk-headless/u],
    [old, 'python', /2\.7\.18 is older/u, 'apt-get install python3'],
    [old, 'cpp', /older than 10/u, 'apt-get install g++'],
  ] as const)
    t.match(pick(findings, name), { level: 'missing', detail, remedy })
})

/** A fake javac that produces the class file of the resident compiler. */
const compiles =
  'while [ $# -gt 0 ]; do [ "$1" = -d ] && : >"$2/Compiler.class"; shift; done; exit 0'

/** Makes a directory with a fake JDK of each major version, which only prints its version. */
function layOutJdks(
  t: Test,
  homes: Readonly<Record<string, { javac?: string; java?: string; without?: string }>>,
): string {
  const libraryDirectory = makeDirectory(t, 0o755)
  for (const [major, { javac, java, without }] of Object.entries(homes)) {
    const home = join(libraryDirectory, `jvm/java-${major}`)
    const files = {
      release: `JAVA_VERSION="${major}.0.4"\n`,
      'bin/javac': `#!/bin/sh\n${javac ?? `echo javac ${major}.0.4`}\n${compiles}\n`,
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

/** Examines a host that has only these JDKs. */
const examineJava = async (
  libraryDirectory: string,
  settings = defaultSettings,
): Promise<Finding> => pick(await examineHost({ ...bareHost, libraryDirectory, settings }), 'java')

t.test('the newest whole JDK is taken, on the path or not', async (t) => {
  const libraryDirectory = layOutJdks(t, { 8: {}, 17: {}, 21: {}, 25: { without: 'bin/java' } })
  t.match(await examineJava(libraryDirectory), { level: 'ok', detail: /21\.0\.4.*java-21/u })
})

t.test('JAVA_HOME is looked at as the worker looks at it', async (t) => {
  const libraryDirectory = layOutJdks(t, { 17: {}, 21: {} })
  const look = (JAVA_HOME: string): Promise<Finding> =>
    examineJava(libraryDirectory, { ...defaultSettings, JAVA_HOME })
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
    t.match(await examineJava(layOutJdks(t, homes)), { level: 'missing', detail, remedy })
})

t.test(
  'beside a language that works, the others are named and a broken one is a warning',
  async (t) => {
    const findings = await examineHost({
      ...bareHost,
      programDirectories: [layOutPrograms(t, { 'g++': 'exit 1' }, ['python3'])],
      languages: ['python', 'cpp', 'java', 'go'],
    })
    t.match(pick(findings, 'python'), {
      level: 'ok',
      detail: /^Python 3\.\d+\.\d+ \(.*python3\)$/u,
    })
    t.match(pick(findings, 'languages'), { level: 'ok', detail: /^not installed: java, go / })
    t.match(pick(findings, 'cpp'), {
      level: 'warning',
      detail: /g\+\+ --version.*: it is not offered/u,
      remedy: 'apt-get install --reinstall g++',
    })
  },
)

t.test('a cache directory that is not the worker’s is told as that', needsRoot, async (t) => {
  const cacheDirectory = join(makeDirectory(t, 0o755), 'cache')
  mkdirSync(join(cacheDirectory, 'precompiled-header'), { recursive: true })
  const look = (): readonly Finding[] =>
    examineInside(otherUser, '', { cacheDirectory, languages: ['cpp'] })
  const fault = {
    level: 'missing',
    detail: /does not belong to the worker: .* belongs to uid 0, the worker is uid 61998/u,
    remedy: /chown -R 61998 .*CACHE_DIRECTORY/u,
  }
  const findings = look()
  t.match(pick(findings, 'cache directory'), fault)
  t.match(pick(findings, 'cpp'), { level: 'ok' }, 'no language is blamed for it')
  chownSync(cacheDirectory, 61_998, 61_998)
  t.match(pick(look(), 'cache directory'), fault, 'what is in it is looked at too')
  chownSync(join(cacheDirectory, 'precompiled-header'), 61_998, 61_998)
  t.match(pick(look(), 'cache directory'), { level: 'ok' })
})

t.test('disks that are full', needsRoot, async (t) => {
  const at = makeDirectory(t, 0o755)
  const mount = (options: string, then = ''): string =>
    `mount -t tmpfs -o ${options} none ${at}\n${then}`
  const look = (setUp: string): unknown =>
    pick(
      examineInside(otherMounts, setUp, {
        cacheDirectory: join(at, 'cache'),
        languages: ['python'],
      }),
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

const row = (name: string, level: Finding['level'], detail: string, remedy = 'help'): Finding => ({
  name,
  level,
  detail,
  remedy: level === 'ok' ? null : remedy,
})

t.test('findings stand in columns, each remedy below its finding', async (t) => {
  const text = formatFindings([
    row('kernel', 'ok', 'Linux 6.18'),
    row('g++', 'missing', 'not\nfound', 'apt-get install g++'),
    row('swap', 'warning', 'on', 'swapoff -a'),
    row('disk', 'missing', 'full'),
  ])
  t.equal(
    text,
    [
      '✓ kernel  Linux 6.18',
      '✗ g++     not\nfound',
      '          → apt-get install g++',
      '! swap    on',
      '          → swapoff -a',
      '✗ disk    full',
      '          → help',
      'No worker starts here: g++: not found',
    ].join('\n'),
  )
})

t.test('the last line says that a worker starts unless something is missing', async (t) => {
  const last = (level: Finding['level']): string | undefined =>
    formatFindings([row('a', level, 'b')])
      .split('\n')
      .at(-1)
  t.equal(last('ok'), 'A worker starts here.')
  t.equal(last('warning'), 'A worker starts here.')
  t.equal(last('missing'), 'No worker starts here: a: b')
})
