// Sends garbage to a real keeper: conversations of random, cut off and altered bytes. The keeper ends by itself with a
// status of its own, runs nothing that was not requested and leaves no process. A separate file because it takes long. The
// seed is printed; SEED repeats a run.
import { once } from 'node:events'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import t from 'tap'
import { spawnKeeper } from '../../../../src/executor/box/keeper/launch.ts'
import type { KeeperLaunch } from '../../../../src/executor/box/keeper/launch.ts'
import { takeMessage } from '../../../../src/executor/box/keeper/message.ts'
import { encodeHello, encodeRequest } from '../../../../src/executor/box/keeper/request.ts'
import { timeFactor } from '../../../helper/executor.ts'
import { seed } from '../../../helper/seed.ts'
import {
  countOutOfMemoryKills,
  interpreter,
  listProcesses,
  openLaunches,
  request,
  sanitizers,
  traps,
} from './lone-keeper.ts'

t.comment(`SEED=${seed}`)

/**
 * No conversation starts after this time, unless fewer than `leastConversations` were made. Slow or busy machines need the
 * bound.
 */
const longestMilliseconds = Number(process.env['GARBAGE_SECONDS'] ?? 80) * 1000
const leastConversations = 50
/**
 * The everyday test has a fixed seed and thus the same conversations each time, so a quarter is enough. `make test-fuzz`
 * has new seeds.
 */
const share = process.env['GARBAGE_SECONDS'] === undefined ? 1 / 4 : 1

/** The bytes to send, and whether the keeper may run a program on them. Otherwise the bytes hold no whole request. */
interface Garbage {
  readonly bytes: Buffer
  readonly mayRun: boolean
}

function listGarbage(launch: KeeperLaunch, count: number): Garbage[] {
  const hello = encodeHello(launch)
  // This runtime ends before its program arrives.
  const runtime = {
    name: 'sh',
    argv: ['/bin/sh'],
    unlimitedStack: true,
    awaits: '/box/a',
    looksForBefore: [],
  }
  const helloPrestarted = encodeHello({ ...launch, runtime })
  const whole = Buffer.concat(
    encodeRequest({
      ...request(['/bin/echo', 'ran'], { stdin: 'some input' }),
      command: {
        argv: ['/bin/echo', 'ran'],
        files: [{ path: '/box/a', content: Buffer.from('content'), executable: true }],
        unlimitedStack: false,
      },
    }),
  )
  const random = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))
  const overwrite = (base: Buffer, at: number, piece: Uint8Array): Buffer => {
    const copy = Buffer.from(base)
    copy.set(piece.subarray(0, Math.max(0, copy.length - at)), Math.min(at, copy.length))
    return copy
  }
  const numbers =
    '0 1 2 255 256 65535 65536 65537 2147483647 2147483648 4294967295 4294967296 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 -1 1e3 0x10'
  const telling = fc.oneof(
    fc.constantFrom(...numbers.split(' '), '', '1 files=1'),
    fc.nat(2 ** 32 - 1).map(String),
  )
  /** Gives some fields of the first line other values. */
  const change = (base: Buffer): fc.Arbitrary<Buffer> => {
    const end = base.indexOf('\n')
    const [kind, ...fields] = base.toString('latin1', 0, end).split(' ')
    return fc
      .array(fc.tuple(fc.nat(fields.length - 1), telling), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const changed = [...fields]
        for (const [index, value] of changes)
          changed[index] = `${fields[index]?.split('=')[0]}=${value}`
        return Buffer.concat([Buffer.from([kind, ...changed].join(' ')), base.subarray(end)])
      })
  }
  const sleepless = (bytes: Buffer): Garbage => ({ bytes, mayRun: false })
  const kinds: fc.Arbitrary<Garbage>[] = [
    random.map(sleepless),
    ...[hello, helloPrestarted].flatMap((base) => [
      change(base).map((bytes) => sleepless(bytes)),
      fc
        .tuple(fc.nat(base.length), fc.uint8Array({ minLength: 1, maxLength: 16 }))
        .map(([at, piece]) => sleepless(overwrite(base, at, piece))),
      fc.nat(base.length - 1).map((length) => sleepless(base.subarray(0, length))),
    ]),
    random.map((bytes) => sleepless(Buffer.concat([helloPrestarted, whole, bytes]))),
    random.map((bytes) => sleepless(Buffer.concat([hello, bytes]))),
    random.map((bytes) => sleepless(Buffer.concat([hello, Buffer.from('request '), bytes]))),
    fc
      .nat(whole.length - 1)
      .map((length) => sleepless(Buffer.concat([hello, whole.subarray(0, length)]))),
    change(whole).map((bytes) => ({
      bytes: Buffer.concat([hello, bytes]),
      mayRun: true,
    })),
    fc
      .tuple(fc.nat(whole.length), fc.uint8Array({ minLength: 1, maxLength: 8 }))
      .map(([at, piece]) => ({
        bytes: Buffer.concat([hello, overwrite(whole, at, piece)]),
        mayRun: true,
      })),
    random.map((bytes) => ({ bytes: Buffer.concat([hello, whole, bytes]), mayRun: true })),
  ]
  return fc.sample(fc.oneof(...kinds), { numRuns: count, seed })
}

/** Whether the filters in the bytes are unaltered. An altered filter may kill a process or refuse it anything. */
function hasFilters(bytes: Buffer, launch: KeeperLaunch): boolean {
  const find = (from: Buffer): unknown => {
    const end = from.indexOf('\n')
    const line = from.toString('latin1', 0, end)
    const sizes = [' filter_bytes', ' keeper_filter_bytes'].map(
      (name) => new RegExp(`${name}=(\\d+)`).exec(line)?.[1],
    )
    const length = launch.filter.length + launch.keeperFilter.length
    return [sizes, from.subarray(end + 1, end + 1 + length)]
  }
  return isDeepStrictEqual(find(bytes), find(encodeHello(launch)))
}

/** Sends all bytes and nothing more; returns what was wrong with the keeper's end, or null. */
async function send(launch: KeeperLaunch, { bytes, mayRun }: Garbage): Promise<string | null> {
  const child = spawnKeeper(launch)
  const socket = child.stdio[3]
  if (!(socket instanceof Socket)) throw new Error('no socket')
  let said: Buffer = Buffer.alloc(0)
  let words = ''
  socket.on('error', () => {}).on('data', (chunk: Buffer) => (said = Buffer.concat([said, chunk])))
  child.stderr?.on('data', (chunk: Buffer) => (words += chunk.toString()))
  const timer = setTimeout(() => {
    words += ' (it hung)'
    child.kill('SIGKILL')
  }, 60_000 * timeFactor)
  socket.end(bytes)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  const kinds: string[] = []
  for (let message = takeMessage(said); message; message = takeMessage(said)) {
    kinds.push(message.kind)
    said = message.rest
  }
  // The keeper enforces the requested limits. A limit below what the keeper itself holds kills it.
  if (mayRun && signal === 'SIGKILL' && words === '' && countOutOfMemoryKills(launch.group) > 0)
    return null
  // An interpreter that may not do what it needs aborts.
  const isRefused = signal === 'SIGSYS' || signal === 'SIGABRT' ? words === '' : code === 70
  if (isRefused && !hasFilters(bytes, launch)) return null
  if (words !== '' || signal !== null || (code !== 0 && code !== 70))
    return `ended with ${signal ?? code}: ${words}`
  if (!mayRun && kinds.some((kind) => ['stdout', 'stderr', 'result'].includes(kind)))
    return `ran: ${kinds.join(' ')}`
  return null
}

for (const [build, further, resident, most] of [
  ['as it is', [], null, 2000],
  ['under sanitizers', sanitizers, null, 200],
  ['that forks, under traps', traps, interpreter, 200],
] as const)
  t.test(
    `garbage conversations end, run nothing and leave nothing, the keeper ${build}`,
    async (t) => {
      const prepare = await openLaunches(t, further, resident)
      const lanes = 8
      const count = most * share
      const garbage = listGarbage(await prepare('sample'), count)
      let next = 0
      const began = performance.now()
      const goesOn = (index: number): boolean =>
        index < garbage.length &&
        (index < leastConversations || performance.now() - began < longestMilliseconds)
      async function work(lane: number): Promise<void> {
        let launch = await prepare(`lane-${lane}`)
        for (let index = next++; goesOn(index); index = next++) {
          const fault = await send(launch, garbage[index]!)
          if (fault !== null) t.fail(`SEED=${seed}, ${index}: ${fault}`)
          // The processes of a keeper die with it, but not at the same instant.
          while (listProcesses(launch.group).length > 0) await delay(5)
          // The next keeper gets a new group, because the old group's limit may be too low for it to start.
          launch.group.closeDescriptors()
          await launch.group.remove()
          launch = await prepare(`lane-${lane}-${index}`)
        }
        launch.group.closeDescriptors()
        await launch.group.remove()
      }
      await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)))
      t.ok(next >= leastConversations)
      t.comment(`${Math.min(next, count)} conversations`)
    },
  )
