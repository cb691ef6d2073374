// Goal G1: the cost of a box. A static binary that prints a word runs in a box with production's limits. Floor: a bare clone of
// the same binary into namespaces of the same kinds. Runs follow one another directly, or after 100 ms of rest, because a
// service is mostly idle and a cgroup v1 attach is slow then. Read "over floor". For comparison there is also posix_spawn
// without any namespace.
import { createBareRunner } from '../bare.ts'
import { measure } from '../measure.ts'
import type { Case } from '../measure.ts'
import { report, scaleIterations } from '../report.ts'
import { expectBoxed } from './box.ts'
import { startStaticExecutor } from './static-binary.ts'

using bare = await createBareRunner()
await using fixed = await startStaticExecutor(bare.directory)
const { executor, binary, code, stdout } = fixed

const cases = (what: string, iterations: number, idleMilliseconds?: number): Case[] => {
  const rest = idleMilliseconds === undefined ? {} : { idleMilliseconds }
  const run = { commands: [['./main']], files: { main: binary }, stdout, ...rest }
  return [
    { ...rest, name: `bare ${what}`, iterations, batch: bare.prepare(run) },
    {
      ...rest,
      name: `cloned ${what}`,
      floor: `bare ${what}`,
      iterations,
      batch: bare.prepare({ ...run, clones: true }),
    },
    {
      ...rest,
      name: `boxed ${what}`,
      floor: `cloned ${what}`,
      iterations,
      run: () => expectBoxed(executor, 'cpp', code, stdout),
    },
  ]
}

const rows = await measure([
  ...cases('static binary', scaleIterations(200)),
  ...cases('static binary, after 100 ms', scaleIterations(25), 100),
  {
    name: 'boxed static binary, with loopback',
    floor: 'boxed static binary',
    iterations: scaleIterations(200),
    run: () => expectBoxed(executor, 'cpp', code, stdout, { network: 'loopback' }),
  },
])
report('executor/box', rows, { notes: [`a box is made by ${executor.isolation.box}`] })
