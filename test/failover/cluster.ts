// Two PostgreSQL servers under Debian's patroni and etcd, in synchronous replication. All connections to a node, and its
// connection to etcd, pass through proxies, so that the suite can cut it off completely.
import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findPort } from '#embedded-postgres'
import { startFaultProxy } from '../faults/proxy.ts'
import type { FaultProxy } from '../faults/proxy.ts'
import { findLibraries, unpackPackages } from '../helper/packages.ts'

export interface Node {
  readonly name: string
  /** The port that clients use, behind the proxy. */
  readonly port: number
  /** The port that the suite itself uses, past the proxy. */
  readonly directPort: number
  /** Kills all processes of the node; `start` restarts it. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Drops all packets from and to the node. */
  cutOff(): Promise<void>
  join(): Promise<void>
  start(): void
}

export interface FailoverCluster {
  readonly nodes: readonly [Node, Node]
  readonly password: string
  /** The URL of a database that names both nodes. */
  url(user: string, password: string, database: string): string
  urlOf(node: Node, user: string, password: string, database: string): string
  /** Resolves with the leader and its synchronous standby. @throws when there are none in time. */
  whole(): Promise<{ readonly primary: Node; readonly standby: Node }>
  /** Switches the leader by hand, with patronictl. */
  switchOver(from: Node, to: Node): Promise<void>
  remove(): Promise<void>
}

const packages = ['patroni', 'etcd-server', 'postgresql-15', 'postgresql-client-15']
// PostgreSQL refuses root.
const user = { uid: 65_534, gid: 65_534 }
const wholeSeconds = 120
// The lease of a leader, and the interval of each node's checks. A leader that cannot renew its lease steps down before the
// lease ends.
const dynamic = { ttl: 10, loop_wait: 1, retry_timeout: 3 }

/** @param onLog receives the output of the programs. */
export async function startFailoverCluster(
  onLog: (name: string, text: string) => void,
): Promise<FailoverCluster> {
  const unpacked = unpackPackages('failover', packages)
  const directory = mkdtempSync('/var/tmp/runledger-failover-')
  chmodSync(directory, 0o755)
  const tree = join(directory, 'tree')
  mkdirSync(tree)
  // A directory that PostgreSQL's user may read.
  execFileSync('mount', ['--bind', unpacked, tree])
  const password = randomBytes(12).toString('hex')
  const environment = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    LC_ALL: 'C.UTF-8',
    HOME: directory,
    PYTHONPATH: join(tree, 'usr/lib/python3/dist-packages'),
    LD_LIBRARY_PATH: findLibraries(tree),
    ETCD_UNSUPPORTED_ARCH: process.arch,
    PGSSLMODE: 'disable',
  }
  const start = (name: string, program: string, parameters: readonly string[]): ChildProcess => {
    const child = spawn(
      'setpriv',
      // The programs end together with this suite, however the suite ends.
      ['--pdeathsig=SIGKILL', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--', program, ...parameters], // prettier-ignore
      { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => onLog(name, chunk.toString()))
    return child
  }
  const makeFolder = (name: string): string => {
    const path = join(directory, name)
    mkdirSync(path, { mode: 0o700 })
    chownSync(path, user.uid, user.gid)
    return path
  }

  const [etcdPort, peerPort] = [await findPort(0), await findPort(0)]
  const [etcdUrl, peerUrl] = [etcdPort, peerPort].map((port) => `http://127.0.0.1:${port}`)
  const etcd = start('etcd', join(tree, 'usr/bin/etcd'), [
    `--data-dir=${makeFolder('etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--enable-v2',
    '--unsafe-no-fsync',
  ])

  async function createNode(name: string): Promise<Made> {
    const [directPort, restPort] = [await findPort(0), await findPort(0)]
    const ways = await Promise.all([directPort, restPort, etcdPort].map((port) => startFaultProxy(`http://127.0.0.1:${port}`))) // prettier-ignore
    const [port = 0, rest = 0, coordination = 0] = ways.map(({ url }) => Number(new URL(url).port))
    const place = makeFolder(name)
    const login = (username: string): object => ({ username, password, sslmode: 'disable' })
    const file = join(place, 'patroni.json')
    // JSON is also YAML.
    const settings = {
      scope: 'failover',
      name,
      restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${rest}` },
      // The older API of etcd. patroni 3.0.2 caches what it reads through the newer one, and after a cut does not notice
      // that the cache is stale. Without `use_proxies` patroni would discover etcd's address and bypass the proxy.
      etcd: { host: `127.0.0.1:${coordination}`, use_proxies: true },
      bootstrap: {
        dcs: {
          ...dynamic,
          synchronous_mode: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 150, fsync: 'off', wal_keep_size: '256MB', wal_log_hints: 'on' }, // prettier-ignore
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `127.0.0.1:${directPort}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: join(place, 'data'),
        bin_dir: join(tree, 'usr/lib/postgresql/15/bin'),
        pgpass: join(place, 'pgpass'),
        authentication: {
          superuser: login('postgres'),
          replication: login('replicator'),
          rewind: login('rewinder'),
        },
        pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'], // prettier-ignore
        parameters: { unix_socket_directories: place, password_encryption: 'scram-sha-256' },
      },
      watchdog: { mode: 'off' },
    }
    writeFileSync(file, JSON.stringify(settings))
    chownSync(file, user.uid, user.gid)
    /** Returns the pids of patroni and its server; the last started ones come first. */
    const listAll = (): number[] =>
      listProcesses().filter(({ command }) => command.includes(place)).map(({ pid }) => pid).flatMap((pid) => [...listDescendants(pid), pid]) // prettier-ignore
    const signal = (name: NodeJS.Signals): void => {
      for (const pid of new Set(listAll())) {
        try {
          process.kill(pid, name)
        } catch {
          // it has just ended
        }
      }
    }
    const setWays = async (mode: 'hold' | 'pass'): Promise<void> => {
      await Promise.all(ways.map((way) => way.set(mode)))
    }
    return {
      name,
      file,
      ways,
      restPort,
      port,
      directPort,
      start() {
        start(name, '/usr/bin/python3', [join(tree, 'usr/bin/patroni'), file])
      },
      async kill() {
        while (listAll().length > 0) {
          signal('SIGKILL')
          await sleep(20)
        }
      },
      end: () => signal('SIGKILL'),
      freeze: () => signal('SIGSTOP'),
      thaw: () => signal('SIGCONT'),
      cutOff: () => setWays('hold'),
      join: () => setWays('pass'),
    }
  }

  const nodes = [await createNode('a'), await createNode('b')] as const
  // Servers that patroni has started would otherwise outlive the suite.
  process.once('exit', () => nodes.forEach((node) => node.end()))
  for (const node of nodes) node.start()

  async function readRole(node: Made, role: string): Promise<boolean> {
    try {
      const answer = await fetch(`http://127.0.0.1:${node.restPort}/${role}`, {
        signal: AbortSignal.timeout(1000),
      })
      await answer.arrayBuffer()
      return answer.status === 200
    } catch {
      return false
    }
  }
  return {
    nodes,
    password,
    url: (name, secret, database) =>
      `postgres://${name}:${secret}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${database}?target_session_attrs=read-write`,
    urlOf: ({ directPort }, name, secret, database) =>
      `postgres://${name}:${secret}@127.0.0.1:${directPort}/${database}`,
    async whole() {
      const endsAt = performance.now() + wholeSeconds * 1000
      for (;;) {
        for (const [primary, standby] of [nodes, nodes.toReversed() as [Made, Made]] as const) {
          const found = await Promise.all([readRole(primary, 'primary'), readRole(standby, 'synchronous')]) // prettier-ignore
          if (found.every(Boolean)) return { primary, standby }
        }
        if (performance.now() > endsAt) throw new Error(`no primary with a standby after ${wholeSeconds} s`) // prettier-ignore
        await sleep(100)
      }
    },
    async switchOver(from, to) {
      const { file } = nodes.find(({ name }) => name === from.name)!
      const words = ['-c', file, 'switchover', '--master', from.name, '--candidate', to.name, '--force'] // prettier-ignore
      await promisify(execFile)('/usr/bin/python3', [join(tree, 'usr/bin/patronictl'), ...words], {
        cwd: directory,
        env: environment,
      })
    },
    async remove() {
      for (const node of nodes) {
        node.thaw()
        await node.kill()
        for (const way of node.ways) await way.close()
      }
      etcd.kill('SIGKILL')
      execFileSync('umount', ['--lazy', tree])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

interface Made extends Node {
  end(): void
  readonly file: string
  readonly ways: readonly FaultProxy[]
  readonly restPort: number
}

interface Running {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

function listProcesses(): Running[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return []
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state === 'Z') return []
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
      return [{ pid: Number(entry), parent: Number(parent), command }]
    } catch {
      return []
    }
  })
}

function listDescendants(pid: number): number[] {
  const all = listProcesses()
  const below = (one: number): number[] =>
    all.filter(({ parent }) => parent === one).flatMap((child) => [...below(child.pid), child.pid])
  return below(pid)
}
