// Precompiled headers change nothing but time. Programs that compile give the same binary as with plain g++. Sources that
// compile with messages, or that begin strangely, give the same messages, byte for byte, and the same result. One file,
// because making all headers takes 25 seconds of CPU.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { execute, startExecutor } from '../../../helper/executor.ts'
import { compareWithPlain, include, openWorkshop } from './comparison.ts'
import { oddities, programs } from './example.ts'

const workshop = await openWorkshop(t)
const { executor, cacheDirectory } = workshop

/** The host directory of all headers. */
function locateAll(): string {
  const shared = join(cacheDirectory, 'precompiled-header')
  return join(shared, readdirSync(shared)[0]!)
}

t.test(
  'the usual headers are precompiled at the start, in an order of their own, and then used',
  async (t) => {
    const plain = await startExecutor(t, { accelerators: [] })
    await executor.settled()
    const own = locateAll()
    const made = readdirSync(own)
    t.equal(made.length, 17, made.join(' '))
    t.notOk(made.includes('cstdlib'), 'what takes no time is not kept')
    for (const header of ['iostream', 'bits/stdc++.h']) {
      const [quick, slow] = await Promise.all(
        [executor, plain].map((one) => execute(one, 'cpp', include(header))),
      )
      const [least, most] = [quick, slow].map((one) => one!.compile!.usage.memoryPeakBytes)
      t.ok(least! < most! * 0.7, `${header} is not parsed`)
    }
  },
)

t.test('programs and what they reach into compile to the same binary', async (t) => {
  const ends = await compareWithPlain(t, workshop, programs)
  t.ok(ends.filter((end) => end === '0 silent').length >= 25, 'enough that have nothing to say')
})

t.test('warnings, errors and strange beginnings are told as plain g++ tells them', async (t) => {
  const ends = await compareWithPlain(t, workshop, oddities)
  for (const kind of ['0 silent', '0 talking', '1 talking']) {
    t.ok(ends.filter((end) => end === kind).length >= 10, `enough that end ${kind}`)
  }
})

t.test('the program’s files, and its words, are seen as by plain g++', async (t) => {
  const plain = await startExecutor(t, { accelerators: [] })
  const code =
    '#include <iostream>\n#include "own.h"\nint main() {\n#ifdef X\n  std::cout << "X";\n#endif\n  std::cout << own + __OPTIMIZE__ << __cplusplus;\n}'
  const lay = (name: string, content: string) => ({ name, content: Buffer.from(content) })
  const own = lay('own.h', 'int own = 5;')
  for (const more of [
    { files: [own] },
    { files: [own, lay('main.cpp.gch', 'no header')] },
    { files: [own, lay('iostream', '#error not this')] },
    { files: [own, lay('more.cpp', 'int more;')] },
    { files: [own], compileArguments: ['-DX', '-O0', '-std=gnu++17'] },
    { files: [own], compileArguments: ['-Wall', '-Wextra', '-I.'] },
    // The headers do not compile with this, but GCC would take precompiled ones.
    { files: [own], compileArguments: ['-fpack-struct'] },
    { files: [lay('own.h', 'int own = "5";')] },
  ]) {
    const [one, other] = await Promise.all(
      [executor, plain].map((each) =>
        execute(each, 'cpp', code, '', { cacheScope: 'words', ...more }),
      ),
    )
    t.equal(one!.compile!.exitCode, other!.compile!.exitCode)
    t.equal(one!.compile!.stderr, other!.compile!.stderr)
    t.equal(one!.run?.stdout, other!.run?.stdout)
  }
})
