// Measures the time from sending a cancel until the program is dead, through the whole service: web process, database, worker,
// box. The clock stops when the host's process table shows the program's death, to the millisecond. Floor: SIGKILL to a
// sleeping process without a box, observed in the same way. The bench fails when the contract's bound is exceeded.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FnReturnedObject } from 'tinybench'
import { createClient } from '#client'
import { createCaller } from '../../test/helper/submission.ts'
import { measure } from '../measure.ts'
import { isQuick, report, scaleIterations } from '../report.ts'
import { startWholeService } from './whole-service.ts'

// The contract's bound, for the median.
const deadMilliseconds = 100
const name = 'bench-cancel'
const sleeper = `import ctypes, time\nctypes.CDLL(None).prctl(15, b"${name}", 0, 0, 0)\ntime.sleep(60)`

await using service = await startWholeService('cancel')
const { sql } = service
const { key: apiKey } = await createCaller(sql)
const client = createClient({ url: `http://127.0.0.1:${service.port}`, apiKey })

const iterations = scaleIterations(20)
const rows = await measure([
  { name: 'bare SIGKILL', iterations, run: killBare },
  { name: 'cancelled', floor: 'bare SIGKILL', iterations, run: cancelOne },
])
const cancelled = rows.at(-1)
report('http/cancel', rows, {
  notes: [`the contract says ${deadMilliseconds} ms (p50)`],
  failures:
    isQuick || (cancelled?.p50 ?? Infinity) <= deadMilliseconds
      ? []
      : [`dead later than ${deadMilliseconds} ms after the call (p50)`],
})

async function cancelOne(): Promise<FnReturnedObject> {
  const { id } = await client.submit({ language: 'python', code: sleeper })
  let pid = findProgram()
  for (; pid === undefined; pid = findProgram()) await sleep(5)
  const started = performance.now()
  const answered = client.cancel(id)
  await untilDead(pid)
  const overriddenDuration = performance.now() - started
  await answered
  assert.equal((await client.wait(id)).status, 'cancelled')
  return { overriddenDuration }
}

async function killBare(): Promise<FnReturnedObject> {
  const child = spawn('/bin/sleep', ['60'], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  await once(child, 'spawn')
  const started = performance.now()
  child.kill('SIGKILL')
  await untilDead(String(child.pid))
  const overriddenDuration = performance.now() - started
  await exited
  return { overriddenDuration }
}

function findProgram(): string | undefined {
  return readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && read(pid, 'comm') === `${name}\n`)
}

/** Waits until the process is gone or a zombie. */
async function untilDead(pid: string): Promise<void> {
  while (/^State:\t[^ZX]/m.test(read(pid, 'status'))) await sleep(1)
}

/** Returns a file of /proc; empty when there is no such process. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
