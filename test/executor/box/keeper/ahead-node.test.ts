// JavaScript in a Node that was up before it.
import t from 'tap'
import { execute } from '../../../helper/executor.ts'
import { compareWithOwn, findOne, testEnd } from './ahead/compare.ts'
import { code, words } from './ahead/node.ts'

const node = { language: 'javascript', name: /^(node|MainThread)$/, code, words } as const
const executors = await compareWithOwn(t, node)
const [ready] = executors

t.test('a package of the program’s own is seen', async (t) => {
  await findOne(node.name)
  const files = [
    { name: 'package.json', content: Buffer.from('{"type": "module", "name": "own"}') },
  ]
  const code = 'import { sep } from "node:path"\nconsole.log(sep, typeof module)'
  const { run: phase } = await execute(ready, 'javascript', code, '', undefined, undefined, { files }) // prettier-ignore
  t.match(phase, { stdout: '/ undefined\n', exitCode: 0 })
})

testEnd(t, executors, node)
