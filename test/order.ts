// The order in which test/run.ts begins files. A name that is not there any more does no harm.

/** They mostly sleep, or wait for a limit to pass: the longest first. */
export const waits: readonly string[] = [
  'test/http/outage.test.ts',
  'test/executor/box/keeper/keeper.test.ts',
  'test/job/order.test.ts',
  'test/job/outage.test.ts',
  'test/http/stream-outage.test.ts',
  'test/job/queue/fleet.test.ts',
  'test/http/retry-after.test.ts',
  'test/job/rescue.test.ts',
  'test/executor/box/outlives.test.ts',
]

/** They take the cores for more than ten seconds: the longest first. */
export const takesLong: readonly string[] = [
  'test/executor/toolchain/java/resident.test.ts',
  'test/http/program-checker.test.ts',
  'test/linear/regexp.test.ts',
  'test/language/conformance.test.ts',
  'test/cli/cli.test.ts',
]
