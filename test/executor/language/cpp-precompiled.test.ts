// Precompiled headers change nothing but time, for programs that compile: the same binary comes out as of plain g++.
import t from 'tap'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from '../../helper/executor.ts'
import { compareWithPlain, include, listFirstHeaders, openWorkshop } from './cpp-comparison.ts'
import { programs } from './cpp-example.ts'

const workshop = await openWorkshop(t)
const { executor, cacheDirectory } = workshop

t.test('a header is precompiled when a program begins with it, and then used', async (t) => {
  const plain = new Map<string, number>()
  for (const header of listFirstHeaders(programs)) {
    const { compile } = await execute(executor, 'cpp', include(header))
    plain.set(header, compile!.usage.memoryPeakBytes)
  }
  await executor.settled()
  const shared = join(cacheDirectory, 'precompiled-header')
  const made = readdirSync(join(shared, readdirSync(shared)[0]!))
  t.equal(made.length, 17, made.join(' '))
  t.notOk(made.includes('cstdlib'), 'what takes no time is not kept')
  for (const header of ['iostream', 'bits/stdc++.h']) {
    const { compile } = await execute(executor, 'cpp', `${include(header)}// again\n`)
    t.ok(compile!.usage.memoryPeakBytes < plain.get(header)! * 0.7, `${header} is not parsed`)
  }
})

t.test('programs and what they reach into compile to the same binary', async (t) => {
  const ends = await compareWithPlain(t, workshop, programs)
  t.ok(ends.filter((end) => end === '0 silent').length >= 40, 'enough that have nothing to say')
})
