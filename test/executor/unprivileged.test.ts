// A worker without root, in a cgroup subtree that was delegated to it: the same boxes, with one uid for all.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { openCgroupParent } from '../../src/executor/cgroup/cgroup.ts'
import { nameWorkerGroup } from '../../src/executor/cgroup/worker-group.ts'
import { showCheckout } from '../helper/checkout.ts'
import { makeDirectory } from '../helper/directory.ts'

const uid = 64_500
/** Limits of a group for a whole worker, not for one keeper. */
const memoryBytes = 3 * 1024 ** 3
const processes = 1000
const widened = {
  'memory.max': String(memoryBytes),
  'pids.max': String(processes),
  'cpu.cfs_quota_us': '-1',
}

t.test(
  'a worker without root gives the same boxes',
  { skip: process.getuid?.() !== 0 },
  async (t) => {
    const parent = await openCgroupParent(nameWorkerGroup())
    t.teardown(() => parent.close())
    const group = await parent.createForKeeper('delegated', null)
    group.closeDescriptors()
    t.teardown(() => group.remove())
    group.allow({ memoryBytes, processes })
    for (const path of group.entrances.map((entrance) => dirname(entrance)))
      for (const [file, value] of Object.entries(widened))
        if (existsSync(join(path, file))) writeFileSync(join(path, file), value)
    for (const entrance of group.entrances) {
      const path = dirname(entrance)
      chownSync(path, uid, uid)
      for (const file of readdirSync(path)) {
        if (/^(?:cgroup\.(?:procs|threads|subtree_control)|tasks)$/.test(file)) {
          chownSync(join(path, file), uid, uid)
        }
      }
    }
    const directory = makeDirectory(t)
    chownSync(directory, uid, uid)
    const descriptor = openSync('/etc/hostname', 'r')
    t.teardown(() => closeSync(descriptor))
    const stranger = Array.from({ length: 75 }, (_, index) =>
      index === 74 ? descriptor : ('ignore' as const),
    )
    const script = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 9; shift; done; shift; exec "$@"'
    const { launcher, rename } = showCheckout()
    const child = spawn(
      '/bin/sh',
      [
        ['-c', script, 'sh', ...group.entrances, '--', ...launcher],
        ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'],
        ['--inh-caps=-all', '--bounding-set=-all', rename(process.execPath)],
        [rename(join(import.meta.dirname, 'unprivileged-worker.ts')), directory],
      ].flat(),
      // A worker's parent may leave it a descriptor. No program may get that descriptor.
      { stdio: ['ignore', 'pipe', 'inherit', ...stranger] },
    )
    let stdout = ''
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    t.same(await once(child, 'close'), [0, null])
    const report: unknown = JSON.parse(stdout)
    t.match(report, {
      isolation: { box: 'keeper', uid: 'worker' },
      hello: ['hello\n', 'hello\n', 'hello\n'],
      memory: 'memory_limit',
      cpu: 'cpu_limit',
      status:
        /^Uid:\t1000\t[^]*^CapEff:\t0+$[^]*^CapBnd:\t0+$[^]*^NoNewPrivs:\t1$[^]*^Seccomp:\t2$/m,
      seen: '[]\n',
      descriptors: '[0, 1, 2]\n',
      left: ['left'],
    })
  },
)
