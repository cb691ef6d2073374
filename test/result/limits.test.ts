// A record explains limits that are too small for the language's runtime.
import t from 'tap'
import { explainLimits } from '../../src/result/limits.ts'

const mebibyte = 1024 * 1024
const run = {
  cpu_time: 5,
  wall_time: 10,
  memory: 512 * mebibyte,
  stdout: 1,
  stderr: 1,
  disk: 1,
  processes: 64,
}
const limits = (less: Partial<typeof run>): { compile: null; run: typeof run } => ({
  compile: null,
  run: { ...run, ...less },
})

t.test('each limit below the runtime’s needs is named', (t) => {
  const failed = { verdict: 'RE', language: 'erlang' } as const
  const both = explainLimits(failed, limits({ memory: 16 * mebibyte, processes: 4 }))
  t.match(
    both,
    /^Erlang's runtime alone needs some 48 MiB of memory \(the limit is 16 MiB\), and 24 processes and threads \(the limit is 4\)\.$/,
  )
  t.match(explainLimits(failed, limits({ processes: 23 })), /24 processes/)
  t.equal(explainLimits(failed, limits({ processes: 24 })), null)
  t.end()
})

t.test('nothing is said of a program that came up, or of a language that needs little', (t) => {
  const small = limits({ processes: 1 })
  for (const verdict of ['AC', 'WA', 'CE', 'OLE', 'IE', null] as const)
    t.equal(explainLimits({ verdict, language: 'java' }, small), null)
  t.equal(explainLimits({ verdict: 'RE', language: 'c' }, small), null)
  t.equal(explainLimits({ verdict: 'RE', language: 'of a later release' }, small), null)
  t.equal(explainLimits({ verdict: 'RE', language: 'java' }, null), null)
  t.end()
})
