// The tests for arm64 in the machine of ./arm64.sh (`make test-arm64`): programs in C, Python and Lua, then the attacks on
// the box that do not depend on time, all with an executor alone. In emulation the x86-64 suites would take hours; these
// tests use their programs. ATTACKS, a pattern, selects attacks.
import { mkdtempSync } from 'node:fs'
import { createExecutor } from '#executor'
import type { Executor } from '#executor'
import { catalogue } from '#language'
import type { Language, PhaseLimits } from '#language'
import { execute, firstUid, scaleLimits } from '../helper/executor.ts'
import type { TextOutcome } from '../helper/executor.ts'
import { attacks } from '../hostile/attack/attacks.ts'
import { listLanguages } from '../hostile/attack.ts'
import { plantCanaries } from '../hostile/canary.ts'
import { findEscapes, judge } from '../hostile/judge.ts'
import { loadPrograms } from '../language/all.ts'
import type { Program } from '../language/program.ts'

const tried = ['c', 'python', 'lua'] as const satisfies Language[]
const chosen = new RegExp(process.env['ATTACKS'] || '\\[python, run')
const patient = { cpuSeconds: 300, wallSeconds: 600 }
const counts = { passed: 0, failed: 0 }

function report(title: string, faults: readonly string[]): void {
  counts[faults.length === 0 ? 'passed' : 'failed'] += 1
  process.stdout.write(`${faults.length === 0 ? 'ok' : 'not ok'} - ${title}\n`)
  for (const fault of faults) process.stdout.write(`  ${fault.slice(0, 1000)}\n`)
}

let users = firstUid
const open = (run: Partial<PhaseLimits>): Promise<Executor> =>
  createExecutor({
    slots: 2,
    firstUid: (users += 4),
    languages: [...tried, 'cpp'],
    proves: true,
    limits: scaleLimits({ ...patient, ...run }, patient),
    cacheBytes: 64 * 1024 * 1024,
    cacheDirectory: mkdtempSync('/tmp/runledger-arm64-'),
    accelerators: ['fork-server'],
  })
const roomy = await open({})
const brief = await open({ cpuSeconds: 10, wallSeconds: 20 })

/** The expected result of a program. */
type Wanted = Readonly<Record<string, string | number | RegExp>>

async function look(
  language: Language,
  name: string,
  code: Program,
  stdin: string,
  wanted: Wanted,
  executor = roomy,
): Promise<void> {
  if (typeof code !== 'string') return
  const { compile, run } = await execute(executor, language, code, stdin)
  const found: Readonly<Record<string, unknown>> = { ...compile, ...run }
  const faults = Object.entries(wanted)
    .filter(([key, value]) =>
      value instanceof RegExp ? !value.test(String(found[key])) : found[key] !== value,
    )
    .map(([key]) => `${key}: ${JSON.stringify(found[key])}; ${String(found['stderr'])}`)
  report(`${language}: ${name}`, faults)
}

async function tryLanguage(language: (typeof tried)[number]): Promise<void> {
  const own = (await loadPrograms([language])).get(language)!
  const line = 'Grüße, 世界 🎉\n'
  const big = 'The quick brown fox jumps over the lazy dog, 0123456789 times..\n'.repeat(1024)
  const exited = { ending: 'exited', exitCode: 0, stderr: '' }
  const one = look.bind(null, language)
  const { example } = catalogue[language]
  await one('example', example, '', { ...exited, stdout: 'Hello, world!\n' })
  await one('sum', own.sum, '17\n25\n', { ...exited, stdout: /^42\s*$/ })
  await one('copy', own.copy, big, { ...exited, stdout: big })
  await one('unicode', own.unicode, line, { ...exited, stdout: line + line })
  await one('exitThree', own.exitThree, '', { exitCode: 3, stdout: /^out\s*$/, stderr: /^err\s*$/ })
  await one('uncaught', own.uncaught.code, '', { stderr: own.uncaught.says })
  await one('broken', own.broken.code, '', { stderr: own.broken.says })
  await one('scratch', own.scratch, '', { ...exited, stdout: /^kept\s*$/ })
  await one('threads', own.threads, '', { ...exited, stdout: /^500500\s*$/ })
  await one('network', own.network, '', { ...exited, stdout: /^closed\s*$/ })
  await one('memoryBomb', own.memoryBomb, '', { ending: 'memory_limit' })
  await one('outputFlood', own.outputFlood, '', { ending: 'output_limit' })
  await one('busyLoop', own.busyLoop, '', { ending: 'cpu_limit' }, brief)
  await one('sleeper', own.sleeper, '', { ending: 'wall_limit' }, brief)
}

for (const [language, { version }] of Object.entries(roomy.runtimes))
  process.stdout.write(`# ${language}: ${version}\n`)
for (const language of tried) await tryLanguage(language)
await brief.close()

const canaries = await plantCanaries(mkdtempSync('/tmp/runledger-hostile-'))
for (const attack of attacks) {
  // An attack that only uses time or space ends by a limit, and when depends on the machine's speed.
  if (attack.profile !== 'probe' || /hold up nobody/.test(attack.name)) continue
  if ((attack.network ?? 'none') !== 'none') continue
  for (const language of listLanguages(attack.code)) {
    const title = `${attack.name} [${language}, ${attack.phase}]`
    if (language === 'java' || !chosen.test(title)) continue
    const code = canaries.fill(attack.code[language]!)
    const outcome: TextOutcome = await execute(roomy, language, code, attack.stdin ?? '')
    const faults = [...findEscapes(outcome, canaries.secrets), ...judge(attack, { outcome })]
    report(title, [...faults, ...canaries.inspect()])
  }
}
await canaries.remove()
await roomy.close()
process.stdout.write(`# ${process.arch}: ${counts.passed} passed, ${counts.failed} failed\n`)
process.exitCode = counts.failed === 0 ? 0 : 1
