// Where Kotlin's `main` may be: a file, an object, a companion.
import t from 'tap'
import { findTool, ordinaryToolHost } from '../../../../src/executor/toolchain/tool.ts'
import { kotlin } from '../../../../src/language/kotlin.ts'
import { execute, startExecutor } from '../../../helper/executor.ts'

const isThere = await findTool(ordinaryToolHost, kotlin.tools[0]).then(
  () => true,
  () => false,
)

const say = (text: string): string => `println("${text} " + words.size)`

t.test('the main that there is runs', { skip: !isThere && 'no kotlinc' }, async (t) => {
  const executor = await startExecutor(t, { languages: ['kotlin'], accelerators: [] })
  for (const [name, code] of [
    ['object', `object Main { @JvmStatic fun main(words: Array<String>) { ${say('object')} } }`],
    [
      'companion',
      `package a.b\nclass Other\nclass A { companion object { @JvmStatic fun main(words: Array<String>) { ${say('companion')} } } }`,
    ],
    [
      'file',
      `object A { @JvmStatic fun main(words: Array<String>) { ${say('object')} } }\nfun main(words: Array<String>) { ${say('file')} }`,
    ],
  ] as const) {
    const outcome = await execute(executor, 'kotlin', code, '', { arguments: ['x', 'y'] })
    t.equal(outcome.run?.stdout, `${name} 2\n`, outcome.compile?.stderr ?? '')
  }
  const none = await execute(executor, 'kotlin', 'class A')
  t.match(none.run, { exitCode: 1, stderr: /no main manifest attribute/ })
})
