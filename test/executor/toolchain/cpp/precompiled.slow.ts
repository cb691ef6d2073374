// Precompiled headers change nothing but time: of programs that compile comes the same binary as of plain g++; what the
// compiler has something to say about, or what begins strangely, gets the same words, byte for byte, and the same end.
// One file, because to make all headers takes 25 seconds of CPU.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { preload, usePlugin } from '../../../../src/executor/toolchain/cpp/quick-compiler.ts'
import { execute, startExecutor } from '../../../helper/executor.ts'
import { compareWithPlain, include, openWorkshop } from './comparison.ts'
import { oddities, programs } from './example.ts'

const workshop = await openWorkshop(t)
const { executor, cacheDirectory } = workshop

/** Where all headers are on the host. */
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
    const made = readdirSync(own).filter((name) => name !== 'driver' && name !== 'library.so')
    t.equal(made.length, 18, made.join(' '))
    t.notOk(made.includes('cstdlib'), 'what takes no time is not kept')
    for (const header of made) {
      const templates = header === 'bits_stdc++.h.careful' ? 'common-templates' : 'made-templates'
      const wanted = ['include', templates, 'record.json', 'written-pages'].toSorted()
      t.strictSame(readdirSync(join(own, header)).toSorted(), wanted, header)
    }
    for (const header of ['iostream', 'bits/stdc++.h']) {
      const [quick, slow] = await Promise.all(
        [executor, plain].map((one) => execute(one, 'cpp', include(header))),
      )
      const [least, most] = [quick, slow].map((one) => one!.compile!.usage.memoryPeakBytes)
      t.ok(least! < most! * 0.7, `${header} is not parsed`)
    }
  },
)

t.test('GCC gives up a program that uses what is made in its header, and no other', (t) => {
  const own = locateAll()
  const words = executor.runtimes.cpp!.compile!.slice(1, -3)
  const compile = (header: string, code: string): number | null =>
    spawnSync('g++', ['-pass-exit-codes', usePlugin(own), '-isystem', join(own, header, 'include'), ...words, '-S', '-o', '/dev/null', '-x', 'c++', '-'], { input: code, env: { PATH: '/usr/bin:/bin', ...preload(own) } }).status // prettier-ignore
  const every = '#include <bits/stdc++.h>\n'
  const hello =
    'int main() { std::string s = "hello"; std::cout << s + "!" << std::vector{1, 2}.size(); }'
  const files = 'int main() { std::cout << std::filesystem::path("a/b").filename(); }'
  t.equal(compile('bits_stdc++.h', every + hello), 0)
  t.equal(compile('bits_stdc++.h', every + files), 75)
  t.equal(compile('bits_stdc++.h', `${every}${files.replace('main', 'inline unused')}\n${hello}`), 0, 'what nothing calls uses nothing') // prettier-ignore
  t.equal(compile('bits_stdc++.h.careful', every + files), 0)
  t.equal(compile('iostream', `#include <iostream>\n${hello.replace('std::vector{1, 2}', 's')}`), 0) // prettier-ignore
  t.equal(compile('iostream', '#include <iostream>\nint main() { std::wstring w; return stoi(w); }'), 75) // prettier-ignore
  t.equal(compile('bits_stdc++.h', `${every}int main() {`), 1)
  t.end()
})

t.test('programs and what they reach into compile to the same binary', async (t) => {
  const ends = await compareWithPlain(t, workshop, programs)
  t.ok(ends.filter((end) => end === '0 silent').length >= 40, 'enough that have nothing to say')
})

t.test('warnings, errors and strange beginnings are told as plain g++ tells them', async (t) => {
  const ends = await compareWithPlain(t, workshop, oddities)
  for (const kind of ['0 silent', '0 talking', '1 talking']) {
    t.ok(ends.filter((end) => end === kind).length >= 20, `enough that end ${kind}`)
  }
})
