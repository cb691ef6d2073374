// Measures other accounts' programs beside a program that storms the kernel: pipes, sockets, futexes, eventfds, signals,
// threads, short sleeps, each for some seconds in one of two slots (the table of test/neighbour). Floor: the same beside a
// program that computes. The bench fails when a hello takes longer than 150 ms (p99), when a submission is refused or tried
// twice, or when a correct program gets TLE.
import { createCaller } from '../../test/helper/submission.ts'
import { quantile } from '../../test/hostile/neighbour.ts'
import { attack, program } from '../../test/neighbour/attack.ts'
import { storms } from '../../test/neighbour/attack/storm.ts'
import { createCompany } from '../../test/neighbour/company.ts'
import { languages } from '../../test/neighbour/service.ts'
import type { Service } from '../../test/neighbour/service.ts'
import { strike } from '../../test/neighbour/strike.ts'
import { isQuick, report } from '../report.ts'
import { startWholeService } from './whole-service.ts'

const goalMilliseconds = 150
const seconds = isQuick ? 2.5 : 8

await using whole = await startWholeService('neighbour', {
  worker: {
    SLOTS: '2',
    FIRST_UID: String(180_000 + (process.pid % 5000) * 8),
    LANGUAGES: 'python,c,go,java,javascript',
  },
})
const { sql, port } = whole
const service: Service = {
  sql,
  port,
  logged: [],
  offered: new Set(languages),
  createKey: async (tier) => (await createCaller(sql, tier)).key,
  webBytes: () => 0,
  findStrangers: () => [],
}
const company = await createCompany(service)
const alone = attack('a program that computes', [program('python', 'while True: pass')])
// The first run of each program compiles it, so this strike is not measured.
await strike(service, company, alone)
const notes: string[] = []
const failures: string[] = []
let worst = 0
let victims = 0
for (const one of [alone, ...storms]) {
  const { canary, victim, faults, doubts } = await strike(service, company, { ...one, seconds })
  const p99 = quantile(canary, 0.99) - one.holdsSeconds * 1000
  const show = (times: readonly number[]): string =>
    [0.5, 0.99, 1].map((part) => quantile(times, part).toFixed(0)).join(' / ')
  notes.push(
    `beside ${one.name}: ${canary.length} hellos ${show(canary)} ms (p50 / p99 / max), ${victim.length} programs of 0.3 s ${show(victim)} ms`,
  )
  failures.push(...[...faults, ...doubts].map((fault) => `beside ${one.name}: ${fault}`))
  worst = Math.max(worst, p99)
  victims += victim.length
}
if (!isQuick && worst > goalMilliseconds)
  failures.push(`a hello took ${worst.toFixed(0)} ms (p99); the goal is ${goalMilliseconds} ms`)
report('http/neighbour', [], {
  notes: [
    ...notes,
    `a hello's p99 was ${worst.toFixed(0)} ms at most; the goal is ${goalMilliseconds} ms`,
  ],
  figures: { worstMilliseconds: worst, victims },
  failures,
})
