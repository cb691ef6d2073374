// JavaScript programs in a Node that was started before them.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { layFiles, run } from '../../../helper/executor.ts'
import { compareWithOwn, findOne, testEnd } from './prestarted/compare.ts'
import { code, ownWords } from './prestarted/node.ts'

const node = { language: 'javascript', name: /^(node|MainThread)$/, code, ownWords } as const
const executors = await compareWithOwn(t, node)
const [ready, alone] = executors

t.test('what Node looks for before its program is the program’s own', async (t) => {
  const module = 'export const here = this === undefined'
  const cases = [
    { own: '{"type": "module"}', code: 'console.log("ran", this === undefined)' },
    { own: '{"type": "module"}', code: 'undeclared = 5' },
    { own: '{"type": "module"}', code: 'import { here } from "./other.js"; console.log(here)' },
    { own: '{"type": "commonjs"}', code: 'import "node:fs"' },
    { own: '{"imports": {"#x": "./other.js"}}', code: 'console.log(require("#x").here)' },
    { own: '{"name": "own", "exports": "./other.js"}', code: 'console.log(require("own").here)' },
    { own: 'no JSON', code: 'console.log("ran")' },
  ]
  for (const { own, code } of cases) {
    await findOne(node.name)
    const files = layFiles({ 'package.json': own, 'other.js': module })
    const [one, other] = await Promise.all(
      executors.map(async (executor) => {
        const { stdout, stderr, exitCode } = await run(executor, 'javascript', code, '', { files })
        return { stdout, stderr, exitCode }
      }),
    )
    t.strictSame(one, other, `${own}: ${code}`)
  }
})

t.test('its clocks begin with its program', async (t) => {
  const read = async (executor: typeof ready): Promise<Record<string, number>> =>
    JSON.parse((await run(executor, 'javascript', code, 'clocks\n')).stdout)
  await findOne(node.name)
  // Longer than is asserted, because a slow Node is seen before its clock begins.
  await delay(6000)
  const told = await read(ready)
  t.ok(told['age']! >= 3000, 'it has waited')
  for (const clock of ['now', 'uptime'])
    t.ok(told[clock]! > 0 && told[clock]! < told['age']! - 2900, `${clock}: ${told[clock]} ms`)
  t.ok(Math.abs(told['origin']!) < 1000, `${told['origin']} ms beside the time of day`)
  const { now, age } = await read(alone)
  t.ok(now! > age! - 100, 'one of its own has the usual ones')
})

testEnd(t, executors, node)
