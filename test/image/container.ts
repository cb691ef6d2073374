// The image under podman: the rights that a worker's container needs, and containers that are removed when their test ends.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Test } from 'tap'

export const imageName = process.env['IMAGE'] ?? 'localhost/runledger'

/** The image's unpacked files, for a machine where podman has no image store. */
const files = process.env['IMAGE_FILES']

/** The image arguments for podman. Without systemd podman has no timer for health checks, so `checkHealth` runs them. */
export const image: readonly string[] = [
  '--no-healthcheck',
  ...(files === undefined ? [imageName] : describeFiles(files)),
]

/** Returns what Containerfile says about the image in addition to its files. */
function describeFiles(directory: string): readonly string[] {
  const path = '/runledger/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return [
    '--workdir=/runledger',
    `--env=PATH=${path}`,
    '--env=LANG=C.UTF-8',
    // podman sets this variable only for a container of an image.
    '--env=container=podman',
    '--rootfs',
    directory,
    '/runledger/deploy/entrypoint.sh',
  ]
}

/** True where the memory controller is in a v1 hierarchy. */
export const hasCgroupV1 = existsSync('/sys/fs/cgroup/memory')

/** The capabilities that a worker's container needs. */
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

/** Without this option no box gets a separate /proc. */
export const uncoveredProc = '--security-opt=unmask=/proc/*'

/**
 * The fewest rights that a worker's container needs after all of podman's defaults are dropped; docs/deploy.md explains
 * each. The container cannot write to disk.
 */
export const workerRights = giveRights(workerCapabilities, uncoveredProc)

/** Returns the same rights with other capabilities and additional flags. */
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

/** The rights that web and migrate need. */
export const plainRights: readonly string[] = ['--user=runledger', '--cap-drop=ALL', '--read-only']

/** Longer limits for compilers on a small machine. */
export const patientCompilers: Readonly<Record<string, string>> = {
  CPP_COMPILE_WALL_SECONDS: '120',
  JAVA_COMPILE_CPU_SECONDS: '60',
  JAVA_COMPILE_WALL_SECONDS: '120',
}

/** The result of a podman command. */
export interface Ended {
  readonly status: number
  /** stdout and stderr together. */
  readonly text: string
}

// crun does not start containers where v1 and v2 are mounted side by side, as on development machines.
const runtime = ['/usr/bin/runc', '/usr/sbin/runc'].some((path) => existsSync(path))
  ? ['--runtime=runc']
  : []

/** Runs podman until it ends. */
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

/** Returns the present limits as flags, because podman raises limits by default and cannot do so without CAP_SYS_RESOURCE. */
export function keepLimits(): string[] {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  const read = (name: string): number =>
    Number(new RegExp(`^${name} +\\d+ +(\\d+)`, 'm').exec(limits)?.[1] ?? 1024)
  const files = read('Max open files')
  const processes = Math.min(read('Max processes'), 30_000)
  return [`--ulimit=nofile=${files}:${files}`, `--ulimit=nproc=${processes}:${processes}`]
}

let started = 0

/** A container on the host's network, because PostgreSQL listens on loopback. */
export interface Container {
  readonly name: string
  /** Returns everything that it has written to stdout and stderr. */
  log(): Promise<string>
  /** Resolves when its log matches. @throws when the container ends before. */
  logged(pattern: RegExp): Promise<void>
  /** Runs the image's own health check. */
  checkHealth(): Promise<Ended>
  /** Sends SIGTERM, as engines stop containers; resolves with the exit status. */
  stop(): Promise<number>
}

/** Starts a container in the background. It is removed when the test ends. */
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

/** Resolves when a container's log matches. @throws when the container ends before. */
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

/** Starts a container that was created or has ended. */
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
