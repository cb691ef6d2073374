// Plays a hosting platform: runs the Procfile's processes and restarts each one that ends. Each process reaches the database
// through a separate proxy, and has a separate small disk and clock.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { mountDisk } from './disk.ts'
import type { Disk } from './disk.ts'
import { startFaultProxy } from './proxy.ts'
import type { FaultProxy } from './proxy.ts'
import { bareEnvironment } from '../helper/bare-environment.ts'

const root = resolve(import.meta.dirname, '../..')
const restartMilliseconds = 300
const readyMessages = { web: 'web.started', worker: 'worker.started' } as const

/** A process that is kept running. */
export interface Service {
  readonly name: string
  readonly proxy: FaultProxy
  /** The disk of its /tmp and its cache. */
  readonly disk: Disk
  readonly pid: number
  /** Environment variables of the next start; they override the common ones. */
  environment: Record<string, string>
  /** Ends the present process as a fault; its end counts as expected. */
  kill(signal: NodeJS.Signals): void
  /** Shifts its calendar clock by so many seconds from now on. */
  setClock(offsetSeconds: number): void
  /** Resolves with the exit status or the signal's name when the present process has ended. */
  ended(): Promise<number | string>
  /**
   * Resolves when the present process or a successor is ready.
   * @throws with the last output when none became ready.
   */
  ready(): Promise<void>
  /** The last lines of output of its processes. */
  lastWords(): string
  /** The number of each message logged so far by all its processes. */
  readonly logged: ReadonlyMap<string, number>
  /** Ends the service for good; resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

export interface Platform {
  start(name: string, kind: 'web' | 'worker', environment: Record<string, string>): Promise<Service>
  /** Processes that ended without a signal from the suite. */
  readonly crashes: readonly string[]
  /** The internal failures that web processes logged; an answer does not show their reason. */
  readonly internal: readonly string[]
  /** Ids of all processes that were ever started. */
  readonly pids: ReadonlySet<number>
}

const diskMebibytes = 32
const readySeconds = 20
/** A process that has ended so often without ever being ready cannot start. */
const startLimit = 3

/**
 * @param databaseUrl the address behind the proxies.
 * @param directory for the processes' disks, outside /tmp.
 * @param stallSeconds how long SIGUSR2 blocks a process.
 * @param logDirectory keeps all output of the processes there, a file for each service.
 */
export async function createPlatform(
  databaseUrl: string,
  directory: string,
  stallSeconds: number,
  logDirectory: string | null,
): Promise<Platform> {
  const clockLibrary = join(directory, 'clock.so')
  execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', clockLibrary, join(import.meta.dirname, 'clock.c'), '-ldl']) // prettier-ignore
  const procfile = await readFile(join(root, 'Procfile'), 'utf8')
  const readCommand = (kind: 'web' | 'worker'): string => {
    const command = new RegExp(`^${kind}: (.+)$`, 'm').exec(procfile)?.[1]
    if (command === undefined) throw new Error(`the Procfile has no ${kind}`)
    return command
  }
  // What a killed process has compiled of its own code is lost. Without settings each ends once it has loaded that code, which
  // halves the time of every later start.
  const scripts = join(directory, 'scripts')
  for (const kind of ['web', 'worker'] as const)
    spawnSync('sh', ['-c', readCommand(kind)], {
      cwd: root,
      env: { ...bareEnvironment, NODE_COMPILE_CACHE: scripts },
    })
  const crashes: string[] = []
  const internal: string[] = []
  const pids = new Set<number>()

  async function start(
    name: string,
    kind: 'web' | 'worker',
    given: Record<string, string>,
  ): Promise<Service> {
    const command = readCommand(kind)
    const proxy = await startFaultProxy(databaseUrl)
    const disk = mountDisk(join(directory, name), diskMebibytes)
    const temporary = join(disk.directory, 'tmp')
    mkdirSync(temporary, { mode: 0o1777 })
    // A checkout below /tmp is mounted at the same path in the new /tmp.
    const place = relative('/tmp', root)
    const shown = join(temporary, place.startsWith('..') ? '' : place)
    mkdirSync(shown, { recursive: true })
    const clock = join(directory, `${name}.clock`)
    const setClock = (seconds: number): void => {
      // Written in place, because the process has mapped the file.
      writeFileSync(clock, new BigInt64Array([BigInt(seconds)]), { flag: 'r+' })
    }
    writeFileSync(clock, new BigInt64Array(1))
    const logged = new Map<string, number>()
    const recent: string[] = []
    let child: ChildProcess
    let isExpected = false
    let isWanted = true
    let isReady = false
    let wasReady = false
    let failedStarts = 0
    let ended: Promise<number | string>
    let watchers: (() => void)[] = []

    const launch = (): void => {
      isExpected = false
      isReady = false
      // setpriv ends the process together with this suite, however the suite ends.
      const show = shown === temporary ? '' : 'mount --bind . "$3" && '
      const launcher = `${show}mount --rbind "$1" /tmp && cd "$4" && LD_PRELOAD="$2" exec ${command}`
      child = spawn(
        'setpriv',
        [
          '--pdeathsig',
          'SIGKILL',
          '--',
          'unshare',
          '--mount',
          '--propagation=private',
          '--',
          'sh',
          '-c',
          launcher,
          'sh',
          temporary,
          clockLibrary,
          shown,
          root,
        ],
        {
          // prettier-ignore
          cwd: root,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: {
            ...bareEnvironment,
            NODE_COMPILE_CACHE: scripts,
            DATABASE_URL: proxy.url,
            CACHE_DIRECTORY: join(disk.directory, 'cache'),
            CLOCK_OFFSET_FILE: clock,
            STALL_SECONDS: String(stallSeconds),
            NODE_OPTIONS: ['stall.ts', 'crash.ts']
              .map((file) => `--import=${join(import.meta.dirname, file)}`)
              .join(' '),
            ...given,
            ...service.environment,
          },
        },
      )
      const present = child
      let hasEnded = false
      if (child.pid !== undefined) pids.add(child.pid)
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream! }).on('line', (line) => {
          if (logDirectory !== null) appendFileSync(join(logDirectory, name), `${line}\n`)
          recent.push(line)
          if (recent.length > 15) recent.shift()
          const message = /"msg":"([a-z_.]+)"/.exec(line)?.[1]
          if (message === 'request.internal') internal.push(`${name}: ${line}`)
          if (message === undefined) return
          logged.set(message, (logged.get(message) ?? 0) + 1)
          // Last output of a killed process can arrive after its end.
          if (message === readyMessages[kind] && present === child && !hasEnded)
            wasReady = isReady = true
          for (const check of watchers) check()
        })
      }
      ended = new Promise((done) => {
        present.once('exit', (code, signal) => {
          const status = signal ?? code ?? 'unknown'
          hasEnded = true
          isReady = false
          if (!isExpected) crashes.push(`${name} ended with ${status}:\n${recent.join('\n')}`)
          if (!wasReady) failedStarts += 1
          for (const check of watchers) check()
          done(status)
          if (isWanted && failedStarts < startLimit)
            setTimeout(() => isWanted && launch(), restartMilliseconds)
        })
      })
    }
    const service: Service = {
      name,
      proxy,
      disk,
      logged,
      setClock,
      lastWords: () => recent.join('\n'),
      environment: {},
      get pid() {
        return child.pid ?? 0
      },
      kill(signal) {
        isExpected = true
        child.kill(signal)
      },
      ended: () => ended,
      ready: () =>
        new Promise((done, fail) => {
          const check = (): void => {
            if (!isReady && failedStarts < startLimit) return
            watchers = watchers.filter((watcher) => watcher !== check)
            if (isReady) done()
            else fail(new Error(`cannot start: ${crashes.at(-1)}`))
          }
          watchers.push(check)
          check()
        }),
      async stop(signal = 'SIGTERM') {
        // Before that, the signal itself would end the process.
        await Promise.race([
          service.ready().catch(() => {}),
          sleep(readySeconds * 1000, null, { ref: false }),
        ])
        isWanted = false
        isExpected = true
        child.kill('SIGCONT')
        child.kill(signal)
        const status = await ended
        await sleep(0)
        await proxy.close()
        disk.unmount()
        return status
      },
    }
    launch()
    await service.ready()
    return service
  }
  return { start, crashes, internal, pids }
}
