// Java programs in a JVM that was started before them.
import t from 'tap'
import { layFiles, run } from '../../../helper/executor.ts'
import { compareWithOwn, findOne, limits, testEnd } from './prestarted/compare.ts'
import { code, ownWords } from './prestarted/java.ts'

const jvm = { language: 'java', name: /^java$/, code, ownWords } as const
const executors = await compareWithOwn(t, jvm)
const [ready] = executors

t.test('another class, and less memory, have a JVM of their own', async (t) => {
  const { java: usual } = limits
  const less = { ...usual, run: { ...usual.run, memoryBytes: 128 * 1024 * 1024 } }
  const print = (name: string): string =>
    `public class ${name} { public static void main(String[] a) { System.out.println("${name} " + (Runtime.getRuntime().maxMemory() >> 20)); } }`
  const waiting = await findOne(jvm.name)
  t.match(await run(ready, 'java', print('Other')), { stdout: 'Other 185\n' })
  t.match(await run(ready, 'java', print('Main'), '', { limits: less }), { stdout: 'Main 92\n' })
  t.equal(await findOne(jvm.name), waiting)
})

t.test('a file that a JVM warns of is warned of', async (t) => {
  const code = 'class Main { public static void main(String[] a) {} }'
  for (const name of ['.hotspotrc', '.hotspot_compiler']) {
    await findOne(jvm.name)
    const files = layFiles({ [name]: 'quiet' })
    const [one, other] = await Promise.all(
      executors.map((executor) => run(executor, 'java', code, '', { files })),
    )
    t.equal(one?.stderr, other?.stderr, name)
    t.ok(one?.stderr.includes(name))
  }
})

t.test('what each process may have is by its own limit of processes', async (t) => {
  const code =
    'import java.nio.file.*; class Main { public static void main(String[] a) throws Exception { for (var l : Files.readAllLines(Path.of("/proc/self/limits"))) if (l.startsWith("Max open files") || l.startsWith("Max locked")) System.out.println(l.replaceAll("  +", " ").trim()); } }'
  for (const [processes, files, locked] of [
    [64, 1024, 65_536],
    [1024, 256, 4096],
  ] as const) {
    const { java: usual } = limits
    const own = { ...usual, run: { ...usual.run, processes } }
    await findOne(jvm.name)
    const { stdout } = await run(ready, 'java', code, '', { limits: own })
    t.same(stdout.trim().split('\n').toSorted(), [
      `Max locked memory ${locked} ${locked} bytes`,
      `Max open files ${files} ${files} files`,
    ])
  }
})

testEnd(t, executors, jvm)
