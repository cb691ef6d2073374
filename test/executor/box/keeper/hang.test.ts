// A program does not go on while its keeper hangs, as a keeper does that must read a pipe whose lock the program holds.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listProcesses, request, startLoneKeeper } from './lone-keeper.ts'

function readName(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return null // It has ended.
  }
}

t.test('the first process of the box kills the program of a keeper that hangs', async (t) => {
  const { keeper, group } = await startLoneKeeper(t)
  const [pid] = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ')
  const running = keeper.run(request(['/bin/sleep', '600'], { wallSeconds: 300 }))
  const runs = (): boolean => listProcesses(group).some((id) => readName(id) === 'sleep')
  while (!runs()) await sleep(5)
  // The keeper looks for a first time.
  await sleep(1000)
  process.kill(Number(pid), 'SIGSTOP')
  while (runs()) await sleep(50)
  process.kill(Number(pid), 'SIGCONT')
  const { exit, usage } = await running
  t.strictSame(exit?.signal, 'SIGKILL')
  t.ok(usage.wallSeconds > 2, `after ${usage.wallSeconds} s`)
  t.equal((await keeper.run(request(['/bin/true']))).exit?.code, 0, 'and its keeper goes on')
})

t.test('a keeper that looks is left alone', async (t) => {
  const { keeper } = await startLoneKeeper(t)
  const { exit } = await keeper.run(request(['/bin/sleep', '6'], { wallSeconds: 30 }))
  t.equal(exit?.code, 0)
})
