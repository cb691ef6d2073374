// Loaded into a process before its own code: it dies at the milestone that CRASH_AT names (src/job/milestone.ts), without a
// chance to clean up.
import { subscribe } from 'node:diagnostics_channel'

const milestone = process.env['CRASH_AT']
if (milestone !== undefined)
  subscribe(`runledger:${milestone}`, () => process.kill(process.pid, 'SIGKILL'))
