// The image under podman: what a worker's container must be given, and containers that are gone when their test is.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'

export const imageName = process.env['IMAGE'] ?? 'localhost/runledger'

/** The image's files, unpacked, where podman has no store of images to take it from. */
const files = process.env['IMAGE_FILES']

/** What podman is told to run. Where there is no systemd it has no timer for health checks: `checkHealth` asks. */
export const image: readonly string[] = [
  '--no-healthcheck',
  ...(files === undefined ? [imageName] : describeFiles(files)),
]

/** What Containerfile says of the image beside its files. */
function describeFiles(directory: string): readonly string[] {
  const path = '/runledger/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return [
    '--workdir=/runledger',
    `--env=PATH=${path}`,
    '--env=LANG=C.UTF-8',
    // podman says so of an image's containers alone.
    '--env=container=podman',
    '--rootfs',
    directory,
    '/runledger/deploy/entrypoint.sh',
  ]
}

/** True where the memory controller stands in a v1 hierarchy. */
export const hasCgroupV1 = existsSync('/sys/fs/cgroup/memory')

/** The capabilities that a worker's container must be given. */
export const workerCapabilities: readonly string[] = [
  'CHOWN',
  'DAC_OVERRIDE',
  'KILL',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_ADMIN',
  'SYS_PTRACE',
]

/** Without it no box gets a /proc of its own. */
export const uncoveredProc = '--security-opt=unmask=/proc/*'

/**
 * The least that a worker's container must be given beside podman's defaults taken away; docs/deploy.md says why each.
 * Nothing on disk can be written.
 */
export const workerRights = giveRights(workerCapabilities, uncoveredProc)

/** The same with other capabilities, and other flags beside them. */
export function giveRights(
  capabilities: readonly string[],
  ...flags: readonly string[]
): readonly string[] {
  return [
    '--cap-drop=ALL',
    `--cap-add=${capabilities.join(',')}`,
    '--read-only',
    '--tmpfs=/tmp:mode=1777',
    '--tmpfs=/var/cache/runledger:mode=0711,exec',
    ...flags,
  ]
}

/** What web and migrate need. */
export const plainRights: readonly string[] = ['--user=runledger', '--cap-drop=ALL', '--read-only']

/** Compilers may take their time on a machine that has little. */
export const patientCompilers: Readonly<Record<string, string>> = {
  CPP_COMPILE_WALL_SECONDS: '120',
  JAVA_COMPILE_CPU_SECONDS: '60',
  JAVA_COMPILE_WALL_SECONDS: '120',
}

/** How a command of podman ended. */
export interface Ended {
  readonly status: number
  /** stdout and stderr, as they came. */
  readonly text: string
}

// crun does not start containers where v1 and v2 are mounted side by side, as development machines have it.
const runtime = ['/usr/bin/runc', '/usr/sbin/runc'].some((path) => existsSync(path))
  ? ['--runtime=runc']
  : []

/** Runs podman to its end. */
export function podman(...words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      'podman',
      [...runtime, ...words],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const status = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1
        resolve({ status, text: `${stdout}${stderr}` })
      },
    )
  })
}

/** Without CAP_SYS_RESOURCE podman cannot raise the limits that it inherits, as it would by default. */
export function keepLimits(): string[] {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  const read = (name: string): number =>
    Number(new RegExp(`^${name} +\\d+ +(\\d+)`, 'm').exec(limits)?.[1] ?? 1024)
  const files = read('Max open files')
  const processes = Math.min(read('Max processes'), 30_000)
  return [`--ulimit=nofile=${files}:${files}`, `--ulimit=nproc=${processes}:${processes}`]
}

let started = 0

/** A container of the test's own, on the host's network: PostgreSQL listens on loopback. */
export interface Container {
  readonly name: string
  /** All that it has written to stdout and stderr. */
  log(): Promise<string>
  /** Resolves when its log matches; @throws when it ends before. */
  logged(pattern: RegExp): Promise<void>
  /** What the image's own health check says. */
  checkHealth(): Promise<Ended>
  /** SIGTERM, as engines stop containers; resolves with its exit status. */
  stop(): Promise<number>
}

/** Starts one in the background. It is removed when the test ends. */
export async function startContainer(
  t: Test,
  options: readonly string[],
  environment: Readonly<Record<string, string>>,
  ...command: readonly string[]
): Promise<Container> {
  started += 1
  const name = `runledger-test-${process.pid}-${started}`
  const variables = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`)
  t.teardown(() => podman('rm', '--force', '--time=0', '--volumes', name))
  const created = await podman(
    'create',
    `--name=${name}`,
    '--network=host',
    ...keepLimits(),
    ...options,
    ...variables,
    ...image,
    ...command,
  )
  if (created.status !== 0) throw new Error(created.text)
  return begin(name)
}

/** Resolves when a container's log matches; @throws when it ends before. */
async function followLog(name: string, pattern: RegExp): Promise<void> {
  const logs = spawn('podman', [...runtime, 'logs', '--follow', name])
  let log = ''
  let isFound = false
  const read = (chunk: Buffer): void => {
    log += chunk.toString()
    isFound ||= pattern.test(log)
    if (isFound) logs.kill()
  }
  logs.stdout.on('data', read)
  logs.stderr.on('data', read)
  await once(logs, 'close')
  if (!isFound) throw new Error(`${name} ended: ${log}`)
}

/** Starts one that has been made, or that has ended. */
export async function begin(name: string): Promise<Container> {
  const { status, text } = await podman('start', name)
  if (status !== 0) throw new Error(text)
  return {
    name,
    log: async () => (await podman('logs', name)).text,
    logged: (pattern) => followLog(name, pattern),
    checkHealth: () => podman('exec', name, 'node', 'deploy/health.ts'),
    async stop() {
      await podman('stop', '--time=60', name)
      const { text: code } = await podman('inspect', '--format={{.State.ExitCode}}', name)
      return Number(code)
    },
  }
}
