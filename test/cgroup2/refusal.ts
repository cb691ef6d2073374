// In a layout where a limit is not available, the executor refuses to start and names the failed step (see ./suite.sh). Not
// a `.test.ts`: only ./suite.sh can make these layouts, so tap must not find it.
import t from 'tap'
import { createExecutor, SandboxError } from '#executor'
import type { PhaseLimits } from '#language'

const phase: PhaseLimits = {
  cpuSeconds: 60,
  wallSeconds: 120,
  memoryBytes: 268_435_456,
  processes: 64,
  stdoutBytes: 1024,
  stderrBytes: 1024,
  diskBytes: 1_048_576,
}

/** What the refusal must name, and then the remedy, by layout. */
const reasons: Readonly<Record<string, RegExp>> = {
  'no-memory': /memory.*Delegate=yes/,
  'read-only': /(read-only|EROFS).*writable cgroup/i,
  foreign: /(permission denied|EACCES).*Delegate=yes/i,
}

const layout = process.env['CGROUP_LAYOUT'] ?? ''
const reason = reasons[layout]

t.test(`the executor refuses to start where the limits cannot be had: ${layout}`, async (t) => {
  if (!reason) throw new Error(`CGROUP_LAYOUT must be one of ${Object.keys(reasons).join(', ')}`)
  const started = createExecutor({
    slots: 1,
    firstUid: 61_000,
    languages: ['python'],
    proves: false,
    limits: { python: { compile: null, run: phase } },
    cacheBytes: 0,
    cacheDirectory: t.testdir(),
    accelerators: [],
  })
  // If the executor starts after all, it must be closed.
  started.then(
    (executor) => executor.close(),
    () => undefined,
  )
  const error = await started.then(
    () => t.fail('it started'),
    (error: unknown) => error,
  )
  t.ok(error instanceof SandboxError, 'it is our failure, a SandboxError')
  t.match(String(error), /cgroup/, 'it names the cgroup step')
  t.match(String(error), reason, 'it says why')
})
