// A program uses its slot's share of the machine's cores, or as many cores as its key's tier gives, at most all of them.
import { availableParallelism } from 'node:os'
import t from 'tap'
import { readStream } from '#event'
import { readCores } from '../helper/control-group.ts'
import { startFreshServer } from '../helper/server.ts'
import { until } from '../helper/until.ts'
import { startWorkerProcess } from '../helper/worker.ts'

const all = availableParallelism()
const { call, sql, url } = await startFreshServer(t, { syncWaitSeconds: 300 })
const { child } = await startWorkerProcess(t, url, { SLOTS: String(all), LANGUAGES: 'python' })

if (all === 1) {
  t.pass('one core')
  process.exit(0)
}
const areLimited = readCores(child.pid!).length > 0

const setCores = (cores: number | null): Promise<unknown> =>
  sql`update runledger.tier set cores = ${cores}`

const read = async (id: string): Promise<{ readonly status: string }> =>
  (await call('GET', `/api/result/${id}`)).body

/** Reads a submission's limits from the log; undefined before its start. */
const readLimits = async (id: string): Promise<unknown> =>
  (await readStream(sql, id)).find(({ type }) => type === 'execution.started')?.data

// On one core they must end within the CPU limit, however many cores the host has.
const several = Math.min(all, 4)
/** A program in which several processes compute for a second each. */
const busy = `import os, time
for _ in range(${several}):
    if os.fork() == 0:
        while time.process_time() < 1: pass
        os._exit(0)
for _ in range(${several}): os.wait()`

async function runBusy(): Promise<{ readonly id: string; readonly ratio: number }> {
  const { body } = await call('POST', '/api/submit?wait=true', {
    body: { language: 'python', code: busy, limits: { cpu_time: 15, wall_time: 30 } },
  })
  t.match(body, { status: 'completed', verdict: 'AC' })
  return { id: body.id, ratio: body.cpu_time / body.wall_time }
}

t.test('one core a slot, unless its tier gives more', async (t) => {
  const { id, ratio } = await runBusy()
  t.match(await readLimits(id), { host_cores: all, limits: { cores: 1 } })
  // The kernel enforces this limit, however busy the machine is.
  if (areLimited) t.ok(ratio < 1.15, `${ratio} cores were used`)
})

// This is the first program with more than one core, so no earlier box can have the limit that the test waits for.
t.test('the kernel lets a box have what its tier gives', { skip: !areLimited }, async (t) => {
  await setCores(all)
  const { body } = await call('POST', '/api/submit', {
    body: { language: 'python', code: 'import time\ntime.sleep(1000)', limits: { wall_time: 30 } },
  })
  const most = (): number => Math.max(...readCores(child.pid!))
  // The program is stopped at its wall limit if it was never given them.
  await until(async () => most() === all || (await read(body.id)).status === 'completed')
  t.equal(most(), all)
  await call('POST', `/api/result/${body.id}/cancel`)
})

t.test('as many as its tier gives, and no more than there are', async (t) => {
  for (const [given, granted] of [
    [all, all],
    [1024, all],
    [1, 1],
  ] as const) {
    await setCores(given)
    const { id, ratio } = await runBusy()
    t.match(await readLimits(id), { limits: { cores: granted } })
    // How many of its cores the program used depends on the machine.
    if (areLimited) t.ok(ratio < granted + 0.15, `${given} given: ${ratio.toFixed(2)} used`)
  }
})
