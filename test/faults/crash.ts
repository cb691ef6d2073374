// Loaded into a process before its own code. The process dies at the failpoint that CRASH_AT names (src/job/failpoint.ts),
// without a chance to clean up.
import { subscribe } from 'node:diagnostics_channel'

const failpoint = process.env['CRASH_AT']
if (failpoint !== undefined)
  subscribe(`runledger:${failpoint}`, () => process.kill(process.pid, 'SIGKILL'))
