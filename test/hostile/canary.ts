// Plants what no box may see or touch: a secret in this process's environment, in another process's memory and command line,
// and in files that anyone may read and write; and listeners that no box may reach. `remove` deletes all of them.
import { spawn, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { ListenOptions, Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { followKernelLog } from './kernel-log.ts'

export interface Canaries {
  /**
   * The planted secret, and the first lines of the host's password and shadow files. No program's source contains them, so a
   * program that prints one has escaped.
   */
  readonly secrets: readonly string[]
  /** Replaces each `@NAME@` in a source with a planted path, address or id. */
  fill(source: string): string
  /** Returns the faults of the canaries; empty when nothing has touched them. */
  inspect(): string[]
  remove(): Promise<void>
}

/** @param directory an existing directory that belongs to the suite; it is removed with the canaries. */
export async function plantCanaries(directory: string): Promise<Canaries> {
  const id = randomBytes(8).toString('hex')
  // Programs search for the first half. They assemble it at run time so that they do not find themselves.
  const secret = `HOSTILECANARY-${randomBytes(12).toString('hex')}`
  process.env['RUNLEDGER_CANARY'] = secret
  const open = `${directory}/open-${id}`
  mkdirSync(open)
  chmodSync(directory, 0o755)
  chmodSync(open, 0o777)
  const files = [`${open}/secret`, `/dev/shm/runledger-${id}`, `/var/tmp/runledger-${id}`]
  for (const file of files) {
    writeFileSync(file, secret)
    chmodSync(file, 0o666)
  }

  let calls = 0
  const servers: Server[] = []
  const listen = async (options: ListenOptions): Promise<Server> => {
    const server = createServer((socket) => {
      calls += 1
      socket.on('error', () => {})
      socket.end(secret)
    })
    server.listen(options)
    await once(server, 'listening')
    servers.push(server)
    return server
  }
  const address = (await listen({ host: '127.0.0.1', port: 0 })).address()
  if (address === null || typeof address === 'string') throw new Error('no port to listen on')
  const { port } = address
  await listen({ path: `${open}/socket` })
  chmodSync(`${open}/socket`, 0o777)
  await listen({ path: `\0runledger-${id}` })
  const datagrams = createSocket('udp4', () => (calls += 1))
  datagrams.bind(port, '127.0.0.1')
  await once(datagrams, 'listening')

  // A host process that holds the secret in its environment, its arguments and its memory.
  const holder = spawn('/bin/sh', ['-c', 'read line', secret], {
    env: { CANARY: secret },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // System V shared memory that anyone may attach.
  const segment = /\d+/.exec(
    execFileSync('ipcmk', ['-M', '4096', '-p', '0666'], { encoding: 'utf8' }),
  )![0]
  let cleaned = false
  const clean = (): void => {
    if (cleaned) return
    cleaned = true
    execFileSync('ipcrm', ['-m', segment])
    for (const file of files) rmSync(file, { force: true })
    rmSync(directory, { recursive: true, force: true })
  }
  // Cleans up also when the suite fails or is interrupted. The holder ends when its input closes.
  process.once('exit', clean)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address

  const places: Record<string, string> = {
    FILE: files[0]!,
    SHM_FILE: files[1]!,
    VAR_FILE: files[2]!,
    DIRECTORY: open,
    SOCKET: `${open}/socket`,
    ABSTRACT: `runledger-${id}`,
    PORT: String(port),
    ADDRESS: outside ?? '192.0.2.7',
    WORKER_PID: String(process.pid),
    HOLDER_PID: String(holder.pid),
    SEGMENT: segment,
    NAMESPACES: readdirSync('/proc/self/ns')
      .filter((name) => !/time|for_children/.test(name))
      .map((name) => readlinkSync(`/proc/self/ns/${name}`))
      .join(' '),
  }
  const kernelLog = followKernelLog()
  const firstLines = ['/etc/passwd', '/etc/shadow']
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8').split('\n')[0]!)
  return {
    secrets: [secret, ...firstLines],
    fill: (source) =>
      source.replace(/@([A-Z_]+)@/g, (whole, name: string) => places[name] ?? whole),
    inspect() {
      const faults = files
        .filter((file) => readFileSync(file, 'utf8') !== secret)
        .map((file) => `${file} was written`)
      const strangers = readdirSync(open).filter((name) => !['secret', 'socket'].includes(name))
      if (strangers.length > 0) faults.push(`new in the open directory: ${strangers.join(', ')}`)
      if (calls > 0) faults.push(`a listener of the host's was reached ${calls} times`)
      if (holder.exitCode !== null || holder.signalCode !== null)
        faults.push("a process of the host's was killed")
      calls = 0
      faults.push(...kernelLog.inspect())
      return faults
    },
    async remove() {
      delete process.env['RUNLEDGER_CANARY']
      kernelLog.close()
      for (const server of servers) server.close()
      datagrams.close()
      holder.stdin.end()
      if (holder.exitCode === null) await once(holder, 'exit')
      clean()
    },
  }
}
