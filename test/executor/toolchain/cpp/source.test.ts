// What a C++ source tells before it is compiled.
import t from 'tap'
import { addsToStd } from '../../../../src/executor/toolchain/cpp/source.ts'

const adds = (...texts: string[]): boolean => addsToStd(texts.map((text) => Buffer.from(text)))

t.test('a source that adds to namespace std is told, in whatever file and layout', (t) => {
  for (const text of [
    'namespace std { }',
    'namespace std{',
    'namespace\n  std\n{',
    'inline namespace std::chrono {',
    'namespace /* ours */ std {',
    'namespace \\\nstd {',
    'namespace [[deprecated]] std {',
    'namespace std [[deprecated]] {',
    'namespace std /* ours */ {',
  ])
    t.ok(adds('int main() {}', `#include <vector>\n${text}`), text)
  for (const text of [
    'using namespace std;',
    'using namespace std ;',
    'namespace standard {',
    'namespace own { }',
    'namespace own = std;',
    'int namespace_std;',
    'std::string s;',
    '',
  ])
    t.notOk(adds(text), text)
  t.notOk(addsToStd([]))
  t.end()
})

t.test('the time that it takes is linear in the source', (t) => {
  const blank = ' '.repeat(2 ** 24)
  for (const text of [`namespace${blank}`, `namespace std${blank};`, 'namespace '.repeat(2 ** 20)])
    t.notOk(adds(text))
  t.end()
})
