// The order in which test/run.ts begins files. One that is missing here costs some seconds at the end of a run; a name that
// is not there any more costs nothing.

/** They mostly sleep, or wait for a limit to pass: the longest first. */
export const waits: readonly string[] = [
  'test/http/outage.test.ts',
  'test/executor/box/keeper/keeper.test.ts',
  'test/http/stream-outage.test.ts',
  'test/job/outage.test.ts',
  'test/job/order.test.ts',
  'test/job/rescue.test.ts',
  'test/job/queue/fleet.test.ts',
  'test/http/retry-after.test.ts',
  'test/executor/box/outlives.test.ts',
  'test/job/deliver.test.ts',
  'test/database/pool.test.ts',
  'test/database/socket.test.ts',
  'test/http/tests.test.ts',
  'test/executor/toolchain/java/resident.test.ts',
  'test/executor/resident/resident.test.ts',
  'test/job/sweep.test.ts',
  'test/cli/top.test.ts',
]

/** They take the cores for more than ten seconds: the longest first. */
export const takesLong: readonly string[] = [
  'test/language/conformance.test.ts',
  'test/executor/box/keeper/python-fork.test.ts',
  'test/cli/cli.test.ts',
  'test/executor/toolchain/java/java.test.ts',
  'test/ordinary/ordinary.test.ts',
  'test/linear/regexp.test.ts',
  'test/http/program-checker.test.ts',
  'test/executor/box/phase.test.ts',
  'test/executor/box/keeper/prestarted-java.test.ts',
  'test/doctor/doctor.test.ts',
  'test/executor/executor.test.ts',
  'test/executor/box/keeper/prestarted-node.test.ts',
  'test/docs/commands.test.ts',
  'test/job/execute/suspension.test.ts',
  'test/http/stream-many.test.ts',
  'test/stop.test.ts',
]
