// A host without a network, as a bundle finds it: a network namespace that has only lo, and a podman that has never run
// there and has neither images nor networks.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepLimits } from './container.ts'
import type { Ended } from './container.ts'

/** A host on which commands can be run. */
export interface IsolatedHost {
  run(directory: string, words: readonly string[], environment: Environment): Promise<Ended>
  remove(): void
}

export type Environment = Readonly<Record<string, string>>

/** Starts the host. A process keeps its namespace until it is removed. */
export async function startIsolatedHost(): Promise<IsolatedHost> {
  const script = 'ip link set lo up; echo ready; exec sleep infinity'
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn('unshare', ['--net', 'sh', '-c', script], { stdio: [...stdio] })
  await once(child.stdout, 'data')
  return {
    run: (cwd, words, environment) =>
      new Promise((done) => {
        const env = { ...process.env, ...environment }
        const given = [`--net=/proc/${child.pid}/ns/net`, '--', ...words]
        const maxBuffer = 64 * 1024 * 1024
        execFile('nsenter', given, { cwd, env, maxBuffer }, (error, stdout, stderr) => {
          const status = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1
          done({ status, text: `${stdout}${stderr}` })
        })
      }),
    remove: () => void child.kill('SIGKILL'),
  }
}

/** @returns the environment variables that make podman keep everything in this folder, with settings for this machine. */
export function configurePodman(folder: string): Environment {
  mkdirSync(join(folder, 'net'), { recursive: true })
  const limits = keepLimits().map((flag) => JSON.stringify(flag.replace('--ulimit=', '')))
  const settings = [
    '[containers]',
    `default_ulimits = [${limits.join(', ')}]`,
    '[engine]',
    // crun does not start containers where cgroup v1 and v2 are mounted side by side; systemd may be missing.
    'runtime = "runc"',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    // Locks in shared memory belong to every podman of this machine, and a new podman frees them all.
    'lock_type = "file"',
    `tmp_dir = "${folder}/tmp"`,
    '[network]',
    `network_config_dir = "${folder}/net"`,
  ]
  const storage = [
    '[storage]',
    'driver = "overlay"',
    `graphroot = "${folder}/root"`,
    `runroot = "${folder}/run"`,
  ]
  writeFileSync(join(folder, 'containers.conf'), `${settings.join('\n')}\n`)
  writeFileSync(join(folder, 'storage.conf'), `${storage.join('\n')}\n`)
  return {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
  }
}
