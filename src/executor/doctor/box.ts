// Makes a real box and checks it from inside and outside: settings may look right while the kernel, a container engine
// or a security module refuses.
import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { untilAborted } from '#abort'
import { boxUid, dropTo, environment, readHostRoot, spawnBox } from '#bubblewrap'
import { assembleFilter } from '#seccomp'
import { findProgram } from '#toolchain'
import { mayTrace } from './capability.ts'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import type { Host } from './host.ts'
import { apparmorRemedy, maskRemedy } from './kernel.ts'

const name = 'box'

/** For the pid of a box that is up: bubblewrap's word may come late on a busy machine. */
const pidMilliseconds = 10_000

/** bubblewrap's and setpriv's messages, and what helps. The first match counts. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/Can't mount proc|mounting proc/iu, maskRemedy],
  [/uid map: Permission denied|Failed RTM_NEWADDR|loopback:/iu, apparmorRemedy],
  [
    /No space left on device|max_\w{0,9}namespaces|ENOSPC|nesting depth/iu,
    'sysctl -w user.max_user_namespaces=15000',
  ],
  [
    /No permissions to create new namespace|Creating new namespace failed: Operation not permitted/iu,
    'sysctl -w kernel.unprivileged_userns_clone=1; in Docker: --security-opt seccomp=unconfined or a profile that allows clone, unshare, mount, pivot_root',
  ],
  [/Unknown option/iu, 'install bubblewrap ≥ 0.8 (Debian ≥ 12)'],
  [/seccomp/iu, 'boot a kernel built with CONFIG_SECCOMP_FILTER=y'],
  [
    /setre[sg]?uid|setgroups|setresgid|bounding set|setpriv:/iu,
    'run the worker as root with CAP_SETUID, CAP_SETGID and CAP_SETPCAP (Docker drops none of them by default), or not as root',
  ],
  [
    /Permission denied|Operation not permitted/iu,
    'look into dmesg and the audit log for what refused it (AppArmor, SELinux, a container engine)',
  ],
]

/** A box has its own of each. */
const namespaces = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup'] as const

/** @param makers findings about bubblewrap and the rest; none is run unless all are ok. */
export async function examineBox(host: Host, makers: readonly Finding[]): Promise<Finding> {
  const unfit = makers.find(({ level }) => level === 'missing')
  if (unfit !== undefined)
    return reportMissing(name, `not tried, because of ${unfit.name}`, unfit.remedy ?? '')
  const bubblewrap = findProgram(host, 'bwrap') ?? 'bwrap'
  const setpriv = findProgram(host, 'setpriv')
  const drop =
    host.uid === 0 && setpriv !== null ? [setpriv, ...dropTo(host.firstUid).slice(1)] : []
  const report = await tryBox([...drop, bubblewrap], assembleFilter(host.architecture))
  if (report.inside === '') {
    const words = report.errors.trim().split('\n').at(-1) ?? ''
    const detail = words === '' ? `it ended without a word (${report.end})` : words
    const remedy = refusals.find(([pattern]) => pattern.test(words))?.[1]
    return reportMissing(
      name,
      detail,
      remedy ?? 'run the worker on a host or in a container that allows bubblewrap',
    )
  }
  const hostUid = host.uid === 0 ? host.firstUid : host.uid
  // Without the right to look, nothing speaks against the box.
  const isSeen = report.outside !== null || mayTrace(host)
  const broken = [
    ...checkInside(report.inside),
    ...(isSeen ? checkOutside(report.outside, hostUid) : []),
  ]
  if (broken.length > 0)
    return reportMissing(
      name,
      `not as promised: ${broken.join('; ')}`,
      `check that ${bubblewrap} is the distribution's own: apt-get install --reinstall bubblewrap`,
    )
  if (!isSeen)
    return reportWarning(
      name,
      'closed, as seen from inside; root is without SYS_PTRACE here, and cannot look from outside',
      'docker run --cap-add SYS_PTRACE …',
    )
  return reportOk(
    name,
    `closed: host uid ${hostUid}, no capabilities, filter on, ${namespaces.length} fresh namespaces, no network`,
  )
}

interface Report {
  /** What the box printed; empty without one. */
  readonly inside: string
  /** What the host's /proc says of the box's first process. */
  readonly outside: { readonly status: string; readonly shared: readonly string[] } | null
  readonly errors: string
  readonly end: string
}

async function tryBox(launcher: readonly string[], filter: Buffer): Promise<Report> {
  const files = ['/proc/self/status', '/proc/net/dev', '/proc/self/environ']
  const box = spawnBox({
    launcher,
    command: { argv: ['/usr/bin/cat', ...files, '-'], files: [] },
    root: readHostRoot(),
    paths: [],
    diskBytes: 1024 * 1024,
    filter,
    standard: ['pipe', 'pipe', 'pipe'],
    block: 'pipe',
    inherited: [],
    emptyDescriptor: 0,
  })
  const child = box.process
  let inside = ''
  let errors = ''
  child.stdout?.on('data', (chunk: Buffer) => (inside += chunk.toString('latin1')))
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString('latin1')))
  box.letGo()
  let end: string | null = null
  const ended = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      end ??= error.message
      resolve()
    })
    child.on('close', (code, signal) => {
      end ??= signal ?? `status ${code}`
      resolve()
    })
  })
  const patience = AbortSignal.timeout(20_000)
  const isOver = (): boolean => end !== null || patience.aborted
  // Of three files the environment comes last: then the box is up and waits for its input to end.
  while (!isOver() && !inside.includes('PATH=')) await delay(5)
  const known = untilAborted(box.boxPid, AbortSignal.timeout(pidMilliseconds)).catch(() => null)
  const pid = inside === '' ? null : await known
  const outside = pid === null ? null : lookAt(pid)
  child.stdin?.end()
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(timer)
  return {
    inside: inside.includes('Seccomp:') ? inside : '',
    outside,
    errors,
    end: end ?? 'no end',
  }
}

function lookAt(pid: number): Report['outside'] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const shared = namespaces.filter(
      (kind) => readlinkSync(`/proc/${pid}/ns/${kind}`) === readlinkSync(`/proc/self/ns/${kind}`),
    )
    return { status, shared }
  } catch {
    return null
  }
}

function checkInside(text: string): string[] {
  const field = (key: string): string =>
    new RegExp(`^${key}:\\s*(.*)$`, 'mu').exec(text)?.[1] ?? 'unknown'
  const expected: readonly (readonly [string, RegExp])[] = [
    ['Uid', new RegExp(`^(${boxUid}\\s*){4}$`, 'u')],
    ['Gid', new RegExp(`^(${boxUid}\\s*){4}$`, 'u')],
    ...(['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'] as const).map(
      (key) => [key, /^0+$/u] as const,
    ),
    ['NoNewPrivs', /^1$/u],
    ['Seccomp', /^2$/u],
  ]
  const broken = expected
    .filter(([key, pattern]) => !pattern.test(field(key)))
    .map(([key]) => `${key} is ${field(key)}`)
  const interfaces = [...text.matchAll(/^ *(\w+): [ \d]+$/gmu)].map((match) => match[1])
  if (interfaces.some((device) => device !== 'lo')) broken.push(`network: ${interfaces.join(', ')}`)
  const variables = text.split('\n').at(-1)?.split('\0').filter(Boolean) ?? []
  const leaked = variables.filter(
    (variable) => environment[variable.split('=')[0] ?? ''] === undefined,
  )
  if (leaked.length > 0) broken.push(`the launcher's environment shows: ${leaked.length} variables`)
  return broken
}

function checkOutside(outside: Report['outside'], hostUid: number): string[] {
  if (outside === null) return ['its process could not be looked at from the host']
  const broken = outside.shared.map((kind) => `shares the host's ${kind} namespace`)
  const uid = /^Uid:\s*(\d+)/mu.exec(outside.status)?.[1]
  if (Number(uid) !== hostUid) broken.push(`host uid is ${uid}, not ${hostUid}`)
  return broken
}
