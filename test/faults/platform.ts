// What a hosting platform does: runs the Procfile's processes and starts one again that has ended. Each process reaches
// the database through a proxy of its own, and has a small disk and a clock of its own.
import { execFileSync, spawn } from 'node:child_process'
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
  /** Holds its /tmp and its cache. */
  readonly disk: Disk
  readonly pid: number
  /** Environment of the next start, over that of all. */
  environment: Record<string, string>
  /** Ends the present process, as a fault: that it ends is expected. */
  kill(signal: NodeJS.Signals): void
  /** Its calendar clock is wrong by so many seconds from now on. */
  setClock(offsetSeconds: number): void
  /** Resolves with the exit status, or the signal's name, when the present process has ended. */
  ended(): Promise<number | string>
  /** Resolves when the present process, or the one that follows it, is ready. @throws with its last words when none was. */
  ready(): Promise<void>
  /** The last lines that its processes have said. */
  lastWords(): string
  /** Messages logged so far by all its processes, each with how often. */
  readonly logged: ReadonlyMap<string, number>
  /** Ends it for good; resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

export interface Platform {
  start(name: string, kind: 'web' | 'worker', environment: Record<string, string>): Promise<Service>
  /** Processes that ended although nobody had told them to. */
  readonly crashes: readonly string[]
  /** What web processes logged of failures of ours: an answer tells nothing of them. */
  readonly internal: readonly string[]
  /** Ids of all processes that were ever started. */
  readonly pids: ReadonlySet<number>
}

const diskMebibytes = 32
const readySeconds = 20
/** A process that has never been ready and has ended so often cannot start. */
const startLimit = 3

/**
 * @param databaseUrl the address behind the proxies.
 * @param directory for the processes' disks, outside /tmp.
 * @param stallSeconds how long SIGUSR2 blocks a process.
 * @param logDirectory keeps everything they say there, a file each.
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
  const crashes: string[] = []
  const internal: string[] = []
  const pids = new Set<number>()

  async function start(
    name: string,
    kind: 'web' | 'worker',
    given: Record<string, string>,
  ): Promise<Service> {
    const command = new RegExp(`^${kind}: (.+)$`, 'm').exec(procfile)?.[1]
    if (command === undefined) throw new Error(`the Procfile has no ${kind}`)
    const proxy = await startFaultProxy(databaseUrl)
    const disk = mountDisk(join(directory, name), diskMebibytes)
    const temporary = join(disk.directory, 'tmp')
    mkdirSync(temporary, { mode: 0o1777 })
    // A checkout below /tmp is shown at its place in there.
    const place = relative('/tmp', root)
    const shown = join(temporary, place.startsWith('..') ? '' : place)
    mkdirSync(shown, { recursive: true })
    const clock = join(directory, `${name}.clock`)
    const setClock = (seconds: number): void => {
      // In place: the process has the file mapped.
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
      // setpriv: it ends with us, however we end.
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
          // The last words of one that was killed arrive after its end.
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
        // Before that it is ended by the signal itself.
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
