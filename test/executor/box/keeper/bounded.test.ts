// A keeper under an attacker's control raises the limits of its boxes and takes all that it can. The kernel stops it at the
// limits of the group above, which the keeper cannot reach, and its slot continues with another keeper.
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import type { KeeperGroup } from '../../../../src/executor/cgroup/cgroup.ts'
import { keeperLimits } from '../../../../src/executor/cgroup/worker-group.ts'
import { openKeeperBoxes, request, writeStandIn, slot } from './lone-keeper.ts'

/**
 * Stops by itself far beyond the limits. Frees its memory before it reports, because otherwise no memory is left for the
 * report.
 */
const greedy = `
def tell(text): os.write(2, text.encode())
def take_limits():
  if os.path.isdir('/proc/self/fd/4'):
    os.mkdir('run', dir_fd=4)
    open('/proc/self/fd/4/run/cgroup.procs', 'w').write('0')
  else:
    for number, text in ((5, b'-1'), (4, b'-1'), (11, b'max')): os.pwrite(number, text, 0)
def refuses(work):
  try: return work() is None
  except OSError: return True
def fork():
  pid = os.fork()
  if pid == 0: signal.pause()
  return pid
block = bytes(1 << 20)
memory = os.memfd_create('memory')
refuses(lambda: os.close(9999))
say('ready')
hear_line()
take_limits()
processes, mebibytes = 1, 0
while processes < 1000 and not refuses(fork): processes += 1
tell(f'processes {processes} ')
while mebibytes < 2048 and not refuses(lambda: os.write(memory, block)): mebibytes += 1
os.ftruncate(memory, 0)
tell(f'mebibytes {mebibytes}')
sys.exit(9)`

/** The peak of the memory charged to a keeper's group and all groups below it, in bytes. */
function readPeak({ entrances }: KeeperGroup): number {
  return Math.max(
    ...entrances
      .map((path) => dirname(dirname(path)))
      .flatMap((path) => [`${path}/memory.max_usage_in_bytes`, `${path}/memory.peak`])
      .filter((path) => existsSync(path))
      .map((path) => Number(readFileSync(path, 'utf8'))),
  )
}

t.test('a keeper that takes more than it may is ended, and its slot recovers', async (t) => {
  const standIn = writeStandIn(t, greedy)
  const peaks: number[] = []
  let started = 0
  const boxes = await openKeeperBoxes(t, {
    slots: [slot],
    chooseProgram: (built) => (started++ === 0 ? standIn : built),
    async createForKeeper(usual, name, uid) {
      const group = await usual(name, uid)
      return {
        ...group,
        remove() {
          peaks.push(readPeak(group))
          return group.remove()
        },
      }
    },
  })
  const asked = request(['/bin/echo', 'well'])
  const failure = await boxes.run(slot, asked).catch((error: unknown) => error)
  t.match(failure, { name: 'SandboxError', step: 'keeper.gone' })
  const taken = Number(/processes (\d+)/.exec(String(failure))?.[1])
  const { processes, memoryBytes } = asked.limits
  t.equal(taken, keeperLimits.processes + processes, 'so many processes, and no more')
  const most = keeperLimits.memoryBytes + memoryBytes
  t.ok((peaks[0] ?? 0) > most * 0.9 && (peaks[0] ?? 0) <= most, `${peaks[0]} of ${most} bytes`)
  const phase = await boxes.run(slot, asked)
  t.match([phase.exitCode, Buffer.from(phase.stdout).toString()], [0, 'well\n'])
})
