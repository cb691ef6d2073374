// The neighbour suite: what one account can do to others on the running service, which is PostgreSQL, a web process and a
// worker with two slots on two cores. Each attack of the tables in attack/ uses a separate account, while two other accounts
// work. Their verdicts must stay right, none of their requests is refused and no run is tried twice, nothing is left behind,
// and they wait no longer than a wide bound (judge.ts). bench/http/neighbour.bench.ts has the narrow bound. NEIGHBOUR (a
// regular expression for the name) selects attacks.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { quantile } from '../hostile/neighbour.ts'
import { program } from './attack.ts'
import { bombs } from './attack/bomb.ts'
import { requests } from './attack/request.ts'
import { storms } from './attack/storm.ts'
import { createCompany } from './company.ts'
import { describe, harmless, judge } from './judge.ts'
import { languages, startService } from './service.ts'
import { strike } from './strike.ts'

const started = performance.now()
const wanted = new RegExp(process.argv[2] ?? process.env['NEIGHBOUR'] ?? '', 'iu')
const attacks = [...storms, ...bombs, ...requests].filter(({ name }) => wanted.test(name))
const limits = readFileSync('/proc/self/limits', 'utf8')
const descriptors = Number(/^Max open files\s+(\d+)/mu.exec(limits)?.[1])

/** Programs that end at once. The first run in a language compiles and starts things that stay. */
const first: Readonly<Record<(typeof languages)[number], string>> = {
  python: 'print(1)',
  javascript: 'console.log(1)',
  c: 'int main(void) { return 0; }',
  cpp: '#include <iostream>\nint main() { std::cout << 1; }',
  java: 'class Main { public static void main(String[] a) { System.out.println(1); } }',
  go: 'package main\n\nfunc main() { println(1) }',
}

const service = await startService(t)
const company = await createCompany(service)
for (const language of languages.filter((one) => service.offered.has(one))) {
  const submissions = [program(language, first[language])]
  await strike(service, company, { ...harmless, submissions, seconds: 0.5 })
}
const beside = await strike(service, company, harmless)
t.comment(`beside a harmless program: ${describe(beside)} (p50 / p99 / most)`)

const unjudged: string[] = []
let longest = { name: '', milliseconds: 0 }
for (const attack of attacks) {
  await t.test(attack.name, async (t) => {
    if (descriptors < attack.descriptors) {
      t.comment(`left out: this process may have ${descriptors} descriptors alone`)
      return
    }
    const missing = attack.submissions.find(({ language }) => !service.offered.has(language))
    if (missing !== undefined) {
      t.comment(`left out: ${missing.language} is not installed`)
      return
    }
    const found = await judge(
      attack,
      async (one) => {
        const struck = await strike(service, company, one)
        const milliseconds = quantile(struck.canary, 0.99) - one.holdsSeconds * 1000
        if (milliseconds > longest.milliseconds) longest = { name: one.name, milliseconds }
        return struck
      },
      beside,
    )
    for (const remark of found.remarks) t.comment(remark)
    if (!found.isJudged) unjudged.push(attack.name)
    t.same(found.faults, [], 'nothing is lost, refused or left')
    t.same(found.delays, [], 'verdicts stay, and nobody waits for long')
  })
}
t.comment(
  `neighbour: ${attacks.length} attacks, the canary's p99 ${quantile(beside.canary, 0.99).toFixed(0)} ms beside a harmless program ` +
    `and ${longest.milliseconds.toFixed(0)} ms at most (${longest.name}); ${unjudged.length} whose delays this machine was not calm enough to judge` +
    `${unjudged.length > 0 ? ` (${unjudged.join(', ')})` : ''}; ${Math.round((performance.now() - started) / 1000)} s in all`,
)
