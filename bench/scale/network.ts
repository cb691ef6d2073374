// Hosts that are none: network namespaces with their own addresses and names, on a bridge that only they and this process
// see. Everything stands in a namespace of the bench's own and is gone with its last process; the machine's own network is
// neither used nor changed. Needs root.
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Runs a script of this folder in a network namespace of its own, with our arguments; ends as it ended. */
export async function runInOwnNetwork(script: string): Promise<void> {
  const inside = ['unshare', '--net', '--', process.execPath, join(import.meta.dirname, script)]
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'SIGTERM', '--', ...inside, ...process.argv.slice(2)],
    { stdio: 'inherit' },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
}

/** A host of the network. */
export interface Host {
  readonly name: string
  readonly address: string
  /** Put before a command it runs it there. */
  readonly within: readonly string[]
}

export interface Network extends AsyncDisposable {
  /** This process's own address on the bridge. */
  readonly address: string
  /** The network, as `address/bits`. */
  readonly range: string
  addHost(): Promise<Host>
}

/** Makes the bridge. To be called inside of runInOwnNetwork only. */
export function createNetwork(): Network {
  // The machine's own network has more than the loopback that a fresh namespace has.
  const links = run('ip', '-o', 'link').trim().split('\n')
  if (links.length !== 1) throw new Error('this is not a network namespace of our own')
  const [prefix, bits] = ['10.83.0', 24]
  run('ip', 'link', 'set', 'lo', 'up')
  run('ip', 'link', 'add', 'hosts', 'type', 'bridge')
  run('ip', 'address', 'add', `${prefix}.1/${bits}`, 'dev', 'hosts')
  run('ip', 'link', 'set', 'hosts', 'up')
  const keepers: ChildProcess[] = []

  return {
    address: `${prefix}.1`,
    range: `${prefix}.0/${bits}`,
    async addHost() {
      const number = keepers.length + 1
      const name = `host-${number}`
      const address = `${prefix}.${number + 1}`
      // A process that does nothing keeps the namespaces for as long as we live.
      const keeper = spawn(
        'setpriv',
        ['--pdeathsig', 'SIGKILL', '--', 'unshare', '--net', '--uts', '--', 'sleep', 'infinity'],
        { stdio: 'ignore' },
      )
      keepers.push(keeper)
      const { pid } = keeper
      if (pid === undefined) throw new Error('unshare cannot be run')
      await untilApart(pid)
      const within = ['nsenter', `--net=/proc/${pid}/ns/net`, `--uts=/proc/${pid}/ns/uts`, '--']
      run('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid))
      run('ip', 'link', 'set', name, 'master', 'hosts', 'up')
      run(...within, 'hostname', name)
      run(...within, 'ip', 'link', 'set', 'lo', 'up')
      run(...within, 'ip', 'address', 'add', `${address}/${bits}`, 'dev', 'eth0')
      run(...within, 'ip', 'link', 'set', 'eth0', 'up')
      return { name, address, within }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(
        keepers.map(async (keeper) => {
          keeper.kill('SIGKILL')
          if (keeper.exitCode === null && keeper.signalCode === null) await once(keeper, 'exit')
        }),
      )
    },
  }
}

/** Until the process has its own namespaces. */
async function untilApart(pid: number): Promise<void> {
  const ours = readlinkSync('/proc/self/ns/uts')
  for (let left = 500; left > 0; left -= 1) {
    // unshare takes the network before the name, and the program's start comes after both.
    if (readlinkSync(`/proc/${pid}/ns/uts`) !== ours) return
    await sleep(10)
  }
  throw new Error('unshare made no namespace')
}

function run(...command: readonly string[]): string {
  const [program = '', ...parameters] = command
  return execFileSync(program, parameters, { encoding: 'utf8' })
}
